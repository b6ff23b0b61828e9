/** Whether an expression permits a local time, read from its text once more and without a search: what the starts are checked by. Pure. */

const dayMs = 86_400_000;
const names: readonly string[] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const months: readonly string[] = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const special: Readonly<Record<string, string>> = {
  "@yearly": "0 0 0 1 1 ?",
  "@monthly": "0 0 0 1 * ?",
  "@weekly": "0 0 0 ? * 1",
  "@daily": "0 0 0 * * ?",
  "@hourly": "0 0 * * * ?",
};

/** `localMs`: as if the zone were UTC. */
export function permits(expression: string, localMs: number): boolean {
  const fields = fieldsOf(expression);
  const [second = "", minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  const at = new Date(localMs);
  return (
    isIn(second, at.getUTCSeconds()) &&
    isIn(minute, at.getUTCMinutes()) &&
    isIn(hour, at.getUTCHours()) &&
    isIn(month, at.getUTCMonth() + 1, months) &&
    isIn(fields[6] ?? "*", at.getUTCFullYear()) &&
    isDayOfMonth(dayOfMonth, at) &&
    isDayOfWeek(dayOfWeek, at)
  );
}

export function fieldsOf(expression: string): readonly string[] {
  const trimmed = expression.trim();
  return (special[trimmed] ?? trimmed).toUpperCase().split(/\s+/);
}

/** In a list of numbers or names, ranges and steps. Names begin with 1. */
function isIn(field: string, value: number, named: readonly string[] = []): boolean {
  const smallest = named.length === 0 ? 0 : 1;
  const numberOf = (text: string) =>
    named.includes(text) ? named.indexOf(text) + 1 : Number(text);
  return field.split(",").some((part) => {
    const [base = "", step] = part.split("/");
    const [from = "", to] = base.split("-");
    if (base === "*" || base === "?")
      return step === undefined || (value - smallest) % Number(step) === 0;
    const low = numberOf(from);
    const high =
      to === undefined ? (step === undefined ? low : Number.POSITIVE_INFINITY) : numberOf(to);
    return value >= low && value <= high && (value - low) % Number(step ?? 1) === 0;
  });
}

function isDayOfMonth(field: string, at: Date): boolean {
  const day = at.getUTCDate();
  const last = lastOf(at);
  if (field === "L") return day === last;
  if (field.startsWith("L-")) return day === last - Number(field.slice(2));
  if (!field.endsWith("W")) return isIn(field.replace("*/", "1/"), day);
  const wanted = field === "LW" ? last : Math.min(Number(field.slice(0, -1)), last);
  const distances = workdaysOf(at).map((each) => [Math.abs(each - wanted), each] as const);
  return distances.toSorted(([a], [b]) => a - b)[0]?.[1] === day;
}

function isDayOfWeek(field: string, at: Date): boolean {
  const weekday = at.getUTCDay() + 1;
  const day = at.getUTCDate();
  if (field === "L") return weekday === 7 && day + 7 > lastOf(at);
  const [base = "", nth] = field.split("#");
  if (nth !== undefined) return isIn(base, weekday, names) && Math.ceil(day / 7) === Number(nth);
  if (/^\dL$/.test(field)) return Number(field[0]) === weekday && day + 7 > lastOf(at);
  return isIn(field, weekday, names);
}

function lastOf(at: Date): number {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
}

function workdaysOf(at: Date): readonly number[] {
  const first = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  return Array.from({ length: lastOf(at) }, (_, index) => index + 1).filter(
    (day) => ![0, 6].includes(new Date(first + (day - 1) * dayMs).getUTCDay()),
  );
}
