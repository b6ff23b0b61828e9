/** The methods of times, in UTC, and of durations. */

import type { CelFunction } from "./cel-function.ts";
import { noOverload } from "./failures.ts";
import { Duration, kindOf, Timestamp } from "./values.ts";

const day = 86_400_000;

const ofTimestamp: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) =>
    Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / day),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** The units that a duration is converted to, in ms. */
const ofDuration: Readonly<Record<string, number>> = {
  getHours: 3_600_000,
  getMinutes: 60_000,
  getSeconds: 1_000,
};

export const timeMethods: readonly (readonly [string, CelFunction])[] = Object.entries(
  ofTimestamp,
).map(([name, read]) => [
  name,
  {
    minArgs: 0,
    maxArgs: 0,
    call([value]) {
      if (value instanceof Timestamp) return BigInt(read(new Date(value.ms)));
      if (!(value instanceof Duration)) throw noOverload(name, kindOf(value));
      const unit = ofDuration[name];
      if (unit !== undefined) return BigInt(Math.trunc(value.ms / unit));
      if (name === "getMilliseconds") return BigInt(Math.trunc(value.ms % 1_000));
      throw noOverload(name, kindOf(value));
    },
  },
]);
