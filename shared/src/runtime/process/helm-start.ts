/** What makes a start of Helm cheap. Most runs of it take a fraction of a second. */

/**
 * Environment variables for Helm; what it prints is the same without them. Garbage collection costs more than it saves in so short
 * a time. At its start Helm loads kubectl's texts in the language of the user: it compresses, parses and indexes 350 KB of English,
 * which takes a third of the start. The catalogue of this language has seven texts, about `kubectl config`, which Helm never prints;
 * all others are English.
 */
export const helmStartEnvironment = { GOGC: "400", LC_MESSAGES: "zh_TW.UTF-8" } as const;
