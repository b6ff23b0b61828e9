/** What the log names of an object beside its key. Pure. */

