/** Reads the flags of a command line as Helm does, by spf13/pflag. Pure. */

export type Flag =
  /** `--wait-for-jobs`, or `--wait-for-jobs=false`. */
  | { readonly kind: "switch" }
  /** `--version 1.2` or `--version=1.2`. */
  | { readonly kind: "text" }
  /** `--wait` or `--wait=legacy`: without `=` the value is `alone`. */
  | { readonly kind: "optional"; readonly alone: string };

export interface FlagTable {
  /** By the name after `--`. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** By the letter after `-`: the name. */
  readonly letters?: Readonly<Record<string, string>>;
}

export interface ReadFlags {
  /** The arguments that are neither flags nor their values, up to the problem. */
  readonly positionals: readonly string[];
  /** In their order; a switch has "true" or "false". */
  readonly flags: readonly GivenFlag[];
  readonly problem?: FlagProblem;
}

export interface GivenFlag {
  readonly name: string;
  readonly value: string;
}

export type FlagProblem =
  | { readonly kind: "unknown"; readonly flag: string }
  | { readonly kind: "no-value"; readonly flag: string }
  | { readonly kind: "no-switch"; readonly flag: string };

export function readFlags(args: readonly string[], table: FlagTable): ReadFlags {
  const positionals: string[] = [];
  const flags: GivenFlag[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positionals.push(...rest);
      break;
    }
    if (!arg.startsWith("-") || arg === "-") {
      positionals.push(arg);
      continue;
    }
    const read = arg.startsWith("--") ? readLong(arg, rest, table) : readLetters(arg, rest, table);
    if (!Array.isArray(read)) return { positionals, flags, problem: read };
    flags.push(...read);
  }
  return { positionals, flags };
}

type Read = GivenFlag[] | FlagProblem;

/** Takes the value from `rest` where it is an argument of its own. */
function readLong(arg: string, rest: string[], table: FlagTable): Read {
  const [flag, given] = cut(arg);
  const name = flag.slice(2);
  const known = Object.hasOwn(table.flags, name) ? table.flags[name] : undefined;
  if (known === undefined) return { kind: "unknown", flag };
  switch (known.kind) {
    case "switch":
      return readSwitch(flag, name, given ?? "true");
    case "optional":
      return [{ name, value: given ?? known.alone }];
    case "text": {
      const value = given ?? rest.shift();
      return value === undefined ? { kind: "no-value", flag } : [{ name, value }];
    }
  }
}

/** `-i`, `-f FILE`, `-f=FILE`, `-fFILE`, and several in one, of which the last may have a value. */
function readLetters(arg: string, rest: string[], { flags, letters = {} }: FlagTable): Read {
  const read: GivenFlag[] = [];
  for (let at = 1; at < arg.length; at++) {
    const letter = arg.charAt(at);
    const flag = `-${letter}`;
    const name = Object.hasOwn(letters, letter) ? letters[letter] : undefined;
    const known = name === undefined ? undefined : flags[name];
    if (name === undefined || known === undefined) return { kind: "unknown", flag };
    const after = arg.slice(at + 1);
    const given = after.startsWith("=") ? after.slice(1) : undefined;
    if (known.kind === "text") {
      const value = given ?? (after === "" ? rest.shift() : after);
      return value === undefined ? { kind: "no-value", flag } : [...read, { name, value }];
    }
    const alone = known.kind === "optional" ? known.alone : "true";
    const value = given ?? alone;
    const one = known.kind === "switch" ? readSwitch(flag, name, value) : [{ name, value }];
    if (!Array.isArray(one)) return one;
    read.push(...one);
    if (given !== undefined) break;
  }
  return read;
}

/** What Go's strconv.ParseBool takes. */
function readSwitch(flag: string, name: string, value: string): Read {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return [{ name, value: "true" }];
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return [{ name, value: "false" }];
  return { kind: "no-switch", flag };
}

function cut(arg: string): readonly [flag: string, value: string | undefined] {
  const at = arg.indexOf("=");
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
