/** Compares our results for versions with those of the Go libraries. */
import { AppError } from "../../../runtime/errors/index.ts";
import { parseConstraint, satisfies } from "../constraint.ts";
import { compareVersions, parseVersion, selectVersion } from "../index.ts";
import { parseStrictVersion } from "../version.ts";
import type { Answers, Questions, SelectionQuestion } from "./oracle.ts";

/** Returns one line for each input whose result differs. */
export function versionDisagreements(questions: Questions, answers: Answers): readonly string[] {
  const { versions, pairs, constraints, selections } = questions;
  const ordered = pairs.map(([a, b]) => [parseVersion(a), parseVersion(b)] as const);
  return [
    ...differing("version", versions, {
      ours: versions.map((text) => `${normalized(text)} ${parseStrictVersion(text) !== undefined}`),
      theirs: answers.versions?.map(({ lenient, strict }) => `${lenient} ${strict}`),
    }),
    ...differing("order of", pairs, {
      ours: ordered.map(([a, b]) =>
        a === undefined || b === undefined ? "unreadable" : String(compareVersions(a, b)),
      ),
      theirs: answers.pairs?.map(String),
    }),
    ...differing("constraint", constraints, {
      ours: constraints.map((text) => matchesOf(text, versions)),
      theirs: answers.constraints?.map(({ matches }) => matches ?? "invalid"),
    }),
    ...differing("choice", selections, {
      ours: selections.map(chosen),
      theirs: answers.selections?.map(({ text }) => text ?? "nothing"),
    }),
  ];
}

function differing(
  what: string,
  questions: readonly unknown[],
  {
    ours,
    theirs = [],
  }: { readonly ours: readonly string[]; readonly theirs?: readonly string[] | undefined },
): readonly string[] {
  if (ours.length !== theirs.length)
    return [`${what}: ${ours.length} questions, ${theirs.length} answers`];
  return questions.flatMap((question, at) =>
    ours[at] === theirs[at]
      ? []
      : [`${what} ${JSON.stringify(question)}: ours ${ours[at]}, Go's ${theirs[at]}`],
  );
}

function normalized(text: string): string {
  const version = parseVersion(text);
  if (version === undefined) return "";
  const { major, minor, patch, prerelease, build } = version;
  return `${major}.${minor}.${patch}${prerelease && `-${prerelease}`}${build && `+${build}`}`;
}

function matchesOf(text: string, versions: readonly string[]): string {
  try {
    const constraint = parseConstraint(text);
    return versions
      .map((candidate) => {
        const version = parseVersion(candidate);
        return version === undefined ? "-" : Number(satisfies(constraint, version));
      })
      .join("");
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === "VERSION_CONSTRAINT_INVALID")
      return "invalid";
    throw thrown;
  }
}

function chosen({ kind, available, constraint }: SelectionQuestion): string {
  const selection = selectVersion(available, constraint, { kind });
  return selection.kind === "found" ? selection.text : "nothing";
}
