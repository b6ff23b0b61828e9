/**
 * How long a wait may take before it counts as one that never ends, ms. Not a measure of anything: a machine with other work
 * takes several times as long as an idle one. Less than the time of a test, which then fails with what it waited for.
 */
export const hangMs = 180_000;
