/** Expressions, and texts that are none, which Go is asked about in each of the zones. */

// biome-ignore format: a table
export const expressionRows: readonly string[] = [
  "0 0 22 * * *", "0 0 */3 * * *", "*/5 * * * * *", "0 0/15 8-10/2 * * ?", "0 15 10 ? * MON-FRI", "0 15 10 ? * 2-6",
  "0 15 10 ? * 1", "0 15 10 ? * 7", "0 0 8-10,20 ? * mon,Wed", "0 15 10 ? * 6L", "0 15 10 ? * 1L", "0 15 10 ? * L",
  "0 15 10 ? * 6#3", "0 15 10 ? * FRI#5", "0 15 10 ? * fri#1", "0 15 10 L * ?", "0 15 10 L-2 * ?", "0 15 10 L-7 2 ?",
  "0 0 9 15W * ?", "0 0 9 1W * ?", "0 0 9 LW * ?", "0 0 9 28W 2 ?", "@yearly", "@monthly", "@weekly", "@daily", "@hourly",
  "0 0 0 1 1 ? 2027", "0 0 12 1 1 ? 2026-2030/2", "0 30 12 1,15 JAN,jul ?", "0 0 12 5-10 3-5 ?", "59 59 23 * * ?",
  "0 0 12 ? 2/3 SUN", "  0   0\t22 *  * * ", "0 0 12 1 */4 ?", "0 0 12 ? * SUN,7,2-3", "* * * * * *", "0 * * ? * ?",
  "10-20/3,45 7,5-6 13 1-28/9 * ?", "0 0 12 1 DEC ? 2026,2029",
];

/** Where go-quartz is wrong, in one zone or another: at least one for each fault. */
// biome-ignore format: a table
export const faultyRows: readonly string[] = [
  "0 0 0 31 * ?", "0 0 0 29 2 ?", "0 0 * ? * MON", "0 0 22,25 * * *", "0 30 2 * * ?", "0 0 8,20 LW * ?", "0 0 9 2W * ?",
  "0 0 * * DEC,JUN ?", "0 30 1 * * ?", "0 0 9 ? * FRI#5", "0 0 9 ? * 2-3 2026-2031/2",
];

// biome-ignore format: a table
export const refusedRows: readonly string[] = [
  "", " ", "0 22 * * *", "0 0 22 * * * 2027 1", "@every 5m", "60 0 22 * * *", "0 60 22 * * *", "0 0 25 * * *",
  "0 0 24 * * *", "0 0 22 32 * ?", "0 0 22 0 * ?", "0 0 22 * 13 ?", "0 0 22 * 0 ?", "0 0 22 ? * 0", "0 0 22 ? * 8",
  "0/0 0 22 * * *", "0 0 22-2 * * *", "0 0 22 ? * MON-", "0 0 22 ? * FOO", "0 0 22 * FOO ?", "0 0 22 1 * MON",
  "0 0 22 ? * FRI-MON", "0 0 22 ? * 2#6", "0 0 22 ? * 2#0", "0 0 22 32W * ?", "0 0 22 L-0 * ?", "0 0 22 * * ? 1969",
  "0 0 1.5 * * *", "0 0 x * * *", "0 0 1- * * *", "0 0 -1 * * *", "0 0 1,,2 * * *",
];

/** Offsets behind and ahead of UTC, of half an hour, with clocks that change in either half of the year, and none. */
export const zones: readonly string[] = [
  ...["UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo"],
  ...["Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland"],
];
