/** The limits of an expression (docs/adr/0032). */

/** Of the source, in bytes of UTF-8. */
export const maxSourceBytes = 4_096;

/** What compiling one byte of the source takes, in steps: 64 KiB take about 60 ms. */
export const stepsPerSourceByte = 20;

/** Of the parsed expression. */
export const maxNodes = 2_000;
export const maxDepth = 100;

/** Of one evaluation: a step is about 50 ns, so this is about 5 ms. */
export const maxSteps = 100_000;

/** Of one evaluation, ms of CPU. Steps end it before, unless the CPU is very slow. */
export const maxDurationMs = 50;
