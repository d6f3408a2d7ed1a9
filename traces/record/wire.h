/* SPDX-License-Identifier: MIT
 * What a recorder writes and the importer "recording" reads, version 1.  Included by both sides, so
 * it needs nothing but fixed-width integers.
 *
 * A recording is a sequence of blocks.  A block is at most PIPE_BUF bytes and written at once, so
 * that several processes can share a pipe:
 *
 *	4 bytes  "RfR1"
 *	u16      bytes of records that follow the head
 *	u16      0
 *	u32      process
 *	u32      number of the block in the process, from 0; again from 0 after an execve
 *
 * Numbers are little-endian; a varint is 7 bits a byte, the lowest first; a string is its length as
 * a varint and its bytes.  A record does not cross blocks; it begins with a byte of code:
 *
 *	bits 0..1  0 load, 1 store, 2 fetch: an access; 3: bits 2..7 are an enum rf_wire_kind
 *	bit 2      of an access: another page than the last one of the type.  The difference of the
 *	           page numbers follows as a varint, zigzag
 *	bits 3..7  of an access: n; 31: n follows (before the difference) as a varint
 *
 * What n is depends on how was recorded:
 *
 *	all accesses: n instructions were fetched from the current page of code; then, of a load or
 *	    store, one access; of a fetch, the page is the current page of code from now on.
 *	a window: n accesses of the type went to pages that are not told; then one to this page.
 *	    Without bit 2 there is none: n accesses of the type went to pages not told.
 *
 * Pages are of 4 KiB.  "The last page" of all types is 0 at first, and after RF_WIRE_LOST.
 */
#ifndef RF_WIRE_H
#define RF_WIRE_H

#define RF_WIRE_MAGIC "RfR1"
#define RF_WIRE_HEAD 16
#define RF_WIRE_BLOCK 4096 /* head and records: PIPE_BUF of Linux */
#define RF_WIRE_PAYLOAD (RF_WIRE_BLOCK - RF_WIRE_HEAD)
#define RF_WIRE_PAGE_SHIFT 12
#define RF_WIRE_STRING 1024 /* longer ones are cut */

enum { RF_WIRE_LOAD, RF_WIRE_STORE, RF_WIRE_FETCH, RF_WIRE_CONTROL };
#define RF_WIRE_NEW 4
#define RF_WIRE_N_SHIFT 3
#define RF_WIRE_N_MORE 31

/* Members are varints unless they are said to be strings. */
enum rf_wire_kind {
	/* Begins a process or, in one that is there, a new image: how (enum rf_wire_how), window in
	 * pages, and in instructions, architecture (enum rf_wire_arch), log2 of the page size, 1 when
	 * RF_WIRE_RANGE tells what the kernel touched; strings: recorder, program, command,
	 * directory */
	RF_WIRE_HELLO,
	/* The first record of a process that was forked, in the place of HELLO: the parent's number,
	 * and the serial number of its RF_WIRE_FORK */
	RF_WIRE_FORKED,
	/* The current thread is about to fork: serial number in the process */
	RF_WIRE_FORK,
	/* A mapping that stood at the start, or that grew by itself: address, length, protection,
	 * offset, size of the file or 0; strings: path ("" anonymous), name ("[heap]", …, or "") */
	RF_WIRE_MAP,
	/* address, length, protection */
	RF_WIRE_PROTECT,
	/* A system call that succeeded: its number, result, number of arguments, those; size of the file
	 * opened or 0; number of strings, those: its path arguments */
	RF_WIRE_CALL,
	/* Another thread goes on: its number in the process, from 1 */
	RF_WIRE_SWITCH,
	RF_WIRE_THREAD_EXIT, /* its number */
	/* An access over the edge of a page, or the kernel's own: type, 4 added when it is the kernel's
	 * for a system call, whose RF_WIRE_CALL follows if it is a store; address, length */
	RF_WIRE_RANGE,
	RF_WIRE_LOST, /* records that could not be written */
	RF_WIRE_END,  /* of the process */
	/* The last record of a block, when the process is about to exec a program that will not be
	 * recorded; string: its path.  Others follow if that fails. */
	RF_WIRE_NOT_FOLLOWED,
	RF_WIRE_NKINDS
};

enum rf_wire_how { RF_WIRE_EXACT, RF_WIRE_WINDOW };
enum rf_wire_arch { RF_WIRE_X86_64, RF_WIRE_ARM64, RF_WIRE_NARCHS };
#define RF_WIRE_KERNEL 4
#define RF_WIRE_ARGS 6
#define RF_WIRE_PATHS 2

#endif
