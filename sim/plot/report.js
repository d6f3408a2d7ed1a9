// Tables sort by a column when its head is clicked, again in the other direction; numbers (data-v) by value.
// Equal rows keep their order.  The box above a table hides the rows that lack a word of what is typed.
"use strict";
document.documentElement.classList.add("js");
for (const table of document.querySelectorAll("table.sortable")) {
	const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
	const value = (row, column) => {
		const cell = row.cells[column];
		return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
	};
	const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
		: String(a).localeCompare(String(b), "en", { numeric: true });

	heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
		const down = head.getAttribute("aria-sort") === "ascending";
		const rows = [...body.rows].map((row, place) => ({ row, place, value: value(row, column) }));

		rows.sort((a, b) => (down ? -1 : 1) * compare(a.value, b.value) || a.place - b.place);
		heads.forEach((other) => other.removeAttribute("aria-sort"));
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		body.append(...rows.map((r) => r.row));
	}));
	const box = table.parentElement.previousElementSibling;
	if (box && box.type === "search") {
		box.addEventListener("input", () => {
			const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);

			for (const row of body.rows) {
				const text = row.textContent.toLowerCase();

				row.hidden = !words.every((word) => text.includes(word));
			}
		});
	}
}
