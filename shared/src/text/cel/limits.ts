/** The limits of an expression (docs/adr/0032). */

/** The limit of the source, in bytes of UTF-8. */
export const maxSourceBytes = 4_096;

/** What compiling one byte of the source takes, in steps: 64 KiB take about 60 ms. */
export const stepsPerSourceByte = 20;

/** The limit of the parsed expression. */
export const maxNodes = 2_000;
export const maxDepth = 100;

/** The limit of one evaluation: a step is about 50 ns, so this is about 5 ms. */
export const maxSteps = 100_000;

/** The limit of one evaluation, ms of CPU. Steps end it before, unless the CPU is very slow. */
export const maxDurationMs = 50;
