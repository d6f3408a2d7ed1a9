#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every row of a ground truth through the model: predicted against what real kernels counted.

  truth.py --refault PROGRAM --truth DIRECTORY [--work DIRECTORY] [--rows TEXT] [--counters]

One line a row and a summary.  DIRECTORY holds gen.py, linux-*.csv, real/ and stale/; see the manual.
Exit code 0: the bars of the project hold, 1: they do not.
"""
import argparse, csv, glob, json, os, subprocess, sys

OTHERS = ["pgscan_anon", "pgscan_file", "pgsteal_anon", "pgsteal_file", "pgdeactivate",
          "workingset_refault_anon", "workingset_refault_file", "workingset_activate_anon",
          "workingset_activate_file", "workingset_restore_anon", "workingset_restore_file"]
OWN = ["mmap 1 7e0000000000 28672 rw- anon name=own", "W 1 7e0000000000 28672"]


def prepare(args, workload, real):
    """The workload as a .rft, with the replaying process's own pages: made once."""
    path = os.path.join(args.work, ("real-" if real else "") + workload + ".rft")
    if os.path.exists(path):
        return path
    text = path[:-4] + ".txt"
    if real:
        raw = subprocess.run(["zstd", "-dc", os.path.join(args.truth, "real", workload + ".txt.zst")],
                             check=True, stdout=subprocess.PIPE).stdout.decode()
        at = raw.index("task 1\n") + len("task 1\n")
        data = raw[:at] + "\n".join(OWN) + "\n" + raw[at:]
    else:
        data = subprocess.run([sys.executable, os.path.join(args.truth, "gen.py"), workload, "--model"],
                              check=True, stdout=subprocess.PIPE).stdout.decode()
        # The buffer lay beside the process's other data: its page tables were there before the run.
        data = data.replace("7f0000000000", "7e0000010000")
    with open(text, "w") as f:
        f.write(data)
    subprocess.run([args.refault, "trace", "convert", text, "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    os.remove(text)
    return path


def predict(args, key, trace, extra):
    kernel, workload, limit, swappiness, ra = key
    v2 = kernel.startswith("6.12")
    cmd = [args.refault, "run", trace, "--limit", str(int(limit) * 4096), "--swap", "zram:8G",
           "--ram", "24G", "--machine", "x86-64-zram", "--swappiness", swappiness, "--read_ahead_kb", ra,
           "--kernel", "6.12" if v2 else "6.18", "--cgroup", "v2" if v2 else "v1",
           "--reclaim", "mglru" if "gen7" in kernel else "twolist",
           "--stats-flush-period", "2s", "--stats-poll", "32", "--cpus", "1" if v2 else "2",
           "--output-format=json", "-q"] + extra
    out = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if out.returncode:
        sys.exit("truth: %s: %s" % (" ".join(cmd), out.stderr.decode().strip()))
    return json.loads(out.stdout.decode())


def measured(rows, name):
    for prefix in ("vm.", "cg."):
        if prefix + name in rows[0] and rows[0][prefix + name] != "":
            return [int(r[prefix + name]) for r in rows if r[prefix + name] != ""]
    return None


def mean(v):
    return sum(v) / len(v)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--refault", required=True)
    p.add_argument("--truth", required=True)
    p.add_argument("--work", default="truth-work")
    p.add_argument("--rows", default="", help="only rows whose name contains this")
    p.add_argument("--counters", action="store_true", help="print every counter that misses its bar")
    p.add_argument("--set", action="append", default=[], help="an option for every run")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    failed = 0
    for path in sorted(glob.glob(os.path.join(args.truth, "linux-*.csv"))):
        groups = {}
        with open(path) as f:
            for r in csv.DictReader(f):
                key = (r["kernel"], r["workload"], r["limit_pages"], r["swappiness"], r["read_ahead_kb"])
                groups.setdefault(key, []).append(r)
        failed += table(args, os.path.basename(path), groups, "-real" in path)
    return 1 if failed else 0


def table(args, title, groups, real):
    mglru = "mglru" in title
    bar = 0.05 if mglru else 0.02 if real else 0.01
    errors, within, total, counters_ok, counters_n, oom_wrong, sizes_ok, sizes_n, worst = [], 0, 0, 0, 0, 0, 0, 0, 0.0
    head = "%-16s %6s %4s %4s %9s %9s %7s %8s %s" % ("workload", "pages", "swp", "ra", "model", "kernel",
                                                    "spread", "error", "counters within")
    print("\n%s\n%s" % (title, head))
    for key, rows in groups.items():
        name = "%s %s %s %s" % key[1:]
        if args.rows not in title + " " + name:
            continue
        res = predict(args, key, prepare(args, key[1], real), args.set)
        m = res["metrics"]
        killed = int(rows[0]["oom_kill"])
        if killed or m["oom_kill"]:
            ok = bool(killed) == bool(m["oom_kill"])
            oom_wrong += not ok
            print("%-16s %6s %4s %4s %9s %9s" % (key[1], key[2], key[3], key[4],
                  "OOM kill" if m["oom_kill"] else "alive", "OOM kill" if killed else "alive"))
            continue
        majors = measured(rows, "pgmajfault")
        kernel, spread = mean(majors), max(majors) - min(majors)
        error = m["pgmajfault"] - kernel
        rel = abs(error) / kernel if kernel else 0.0
        errors.append(rel)
        total += 1
        within += abs(error) <= max(bar * kernel, 2 * spread, 20 if real else 0)
        worst = max(worst, 0 if abs(error) <= max(2 * spread, 20) else rel)
        good = n = 0
        misses = []
        for c in OTHERS:
            v = measured(rows, c)
            if v is None or c not in m:
                continue
            n += 1
            ok = abs(m[c] - mean(v)) <= max(0.05 * mean(v), 300, max(v) - min(v))
            good += ok
            if not ok:
                misses.append("%s %d/%d" % (c, m[c], mean(v)))
        counters_ok += good
        counters_n += n
        cg = res["cgroups"][0]
        sizes = [("cg.rss" if "cg.rss" in rows[0] else "cg.anon", cg["anon"])]
        if "cg.swap" in rows[0]:
            sizes.append(("cg.swap", cg["swap"]))
        for field, value in sizes:
            v = mean([int(r[field]) for r in rows])
            sizes_n += 1
            ok = abs(value - v) <= max(0.02 * v, 131072)
            sizes_ok += ok
            if not ok:
                misses.append("%s %d/%d" % (field, value >> 12, int(v) >> 12))
        print("%-16s %6s %4s %4s %9d %9.0f %7d %+7.2f%% %d/%d" % (
            key[1], key[2], key[3], key[4], m["pgmajfault"], kernel, spread,
            100 * error / kernel if kernel else 0.0, good, n))
        if args.counters and misses:
            print("    " + ", ".join(misses))
    if not total:
        return 0
    errors.sort()
    median = errors[len(errors) // 2] if len(errors) % 2 else (errors[len(errors) // 2 - 1] + errors[len(errors) // 2]) / 2
    print("# %d rows: pgmajfault within %g %% in %d (%.0f %%), median error %.2f %%, worst %.2f %%" %
          (total, 100 * bar, within, 100.0 * within / total, 100 * median, 100 * worst))
    print("# other counters within 5 %% or 300: %d of %d (%.0f %%); RSS and swap within 2 %%: %d of %d; wrong OOM: %d" %
          (counters_ok, counters_n, 100.0 * counters_ok / max(1, counters_n), sizes_ok, sizes_n, oom_wrong))
    bad = within < 0.9 * total or oom_wrong or median > (0.02 if mglru else 0.003 if not real else 1)
    if not mglru:
        bad = bad or (not real and worst > 0.04) or counters_ok < 0.9 * counters_n
    return bad


if __name__ == "__main__":
    sys.exit(main())
