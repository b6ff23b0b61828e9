/** Random questions for the real Helm and for us, and both answers. */
import { constraintText, groupText, versionText } from "@flotilla/shared/version/testing";
import fc from "fast-check";

/** A pair of an offer and a constraint, and both answers. */
export interface Answered {
  /** The pair, for messages. */
  readonly question: string;
  readonly ours: string;
  readonly theirs: string;
}

/** One constraint for several offers. */
export interface Round<Offer> {
  readonly offers: readonly Offer[];
  readonly version: string;
}

// Few, so that most constraints match one of a few versions.
const release = fc.tuple(fc.nat(2), fc.nat(1), fc.nat(2)).map((parts) => parts.join("."));

/** Three numbers, and seldom more. */
export const fullVersion: fc.Arbitrary<string> = fc
  .tuple(
    release,
    fc.oneof(
      { weight: 6, arbitrary: fc.constant("") },
      { weight: 2, arbitrary: fc.constantFrom("-rc.1", "-rc.2", "-alpha", "-0") },
      { weight: 1, arbitrary: fc.constantFrom("+a", "+b", "-rc.1+a") },
    ),
  )
  .map((parts) => parts.join(""));

/** Versions as users write them, valid or not. */
export const anyVersion: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fullVersion },
  {
    weight: 1,
    arbitrary: fc.constantFrom("v1.2.3", "1.2", "2", "nonsense", "1.2.3.4", "01.2.3", ""),
  },
  { weight: 1, arbitrary: versionText },
);

const bound = fc
  .tuple(
    fc.constantFrom("", "=", "!=", ">", "<", ">=", "<=", "~", "^"),
    fc.oneof(fullVersion, fc.constantFrom("0", "1", "2", "0.1", "1.1", "1.x", "1.0.x", "v1.1.0")),
  )
  .map((parts) => parts.join(""));

/** Constraints, most of which some version satisfies: a rejection costs one more run of Helm. */
export const constraint: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "",
      "*",
      "x",
      "*-0",
      ">=0.0.0-0",
      "1.x",
      "0 - 1",
      "^0 || ^2",
      "!=1",
      ">0",
    ),
  },
  { weight: 6, arbitrary: bound },
  { weight: 1, arbitrary: fullVersion },
  {
    weight: 6,
    arbitrary: fc
      .tuple(bound, fc.constantFrom(" || ", "||", " || ", " ", ", "), bound)
      .map((parts) => parts.join("")),
  },
  { weight: 1, arbitrary: groupText },
  { weight: 1, arbitrary: constraintText },
);

export interface Asking<Offer> {
  readonly seed: number;
  readonly pairs: number;
  /** Helms at the same time. */
  readonly lanes: number;
  readonly offers: fc.Arbitrary<readonly Offer[]>;
  readonly ask: (round: Round<Offer>, at: number, lane: number) => Promise<readonly Answered[]>;
}

/** Asks until there are enough pairs. */
export async function askBoth<Offer>(asking: Asking<Offer>): Promise<readonly Answered[]> {
  const { seed, pairs, lanes, offers, ask } = asking;
  const rounds = fc.sample(fc.record({ offers, version: constraint }), { seed, numRuns: pairs });
  const answered: Answered[] = [];
  let next = 0;
  async function work(lane: number): Promise<void> {
    while (answered.length < pairs) {
      const at = next++;
      const round = rounds[at];
      if (round === undefined) return;
      answered.push(...(await ask(round, at, lane)));
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
  return answered;
}
