/** The version that the real Helm selects for a constraint, or that it rejects it. */
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runHelm } from "@flotilla/local/registries";
import { messageOf } from "@flotilla/shared/errors";

export interface HelmQuestion {
  readonly helm: string;
  readonly home: string;
  /** What names the chart to `helm show chart`. */
  readonly chart: readonly string[];
  readonly version: string;
  readonly credentials?: {
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
}

/** The version that `helm show chart` shows. */
export async function helmAnswer(question: HelmQuestion): Promise<string> {
  const { version, chart, ...run } = question;
  try {
    const shown = await runHelm(["show", "chart", ...chart, ...versionFlag(version)], run);
    return /^version: *["']?([^"'\s]+)/m.exec(shown)?.[1] ?? "unreadable";
  } catch {
    return rejected;
  }
}

/** Instead of an answer. */
export const rejected = "rejected";

/** The errors of Helm without a match, or with an invalid constraint. All others fail the test. */
const rejections =
  /not found in \S+ repository|has no downloadable URLs|could not locate a version|: not found$|improper constraint|constraint parser error/m;
const unreadable = /improper constraint|constraint parser error/;

export interface HelmPulls {
  readonly helm: string;
  /** A folder that no other Helm uses at the same time. */
  readonly home: string;
  /** Arguments for `helm pull`, one for each chart, and how the name of each one's archive begins. */
  readonly charts: readonly { readonly argument: string; readonly begins: string }[];
  readonly flags: readonly string[];
  readonly version: string;
}

/**
 * For each chart the name of the archive that `helm pull` downloaded. One process pulls many charts, because its start costs
 * ten times as much as a chart; it stops at the first that it rejects, and the next one continues after that. An invalid
 * constraint is rejected for all remaining charts.
 */
export async function helmAnswers({
  helm,
  home,
  charts,
  flags,
  version,
}: HelmPulls): Promise<readonly string[]> {
  const answers: string[] = [];
  await mkdir(home, { recursive: true });
  while (answers.length < charts.length) {
    const left = charts.slice(answers.length);
    const into = await mkdtemp(join(home, "pulled-"));
    const complaint = await runHelm(
      [
        "pull",
        ...left.map(({ argument }) => argument),
        ...flags,
        "-d",
        into,
        ...versionFlag(version),
      ],
      { helm, home },
    ).then(() => undefined, messageOf);
    const files = await readdir(into);
    await rm(into, { recursive: true });

    for (const { begins } of left.slice(0, files.length)) {
      const file = files.find((name) => name.startsWith(begins));
      if (file === undefined) throw new Error(`helm pulled ${files.join(", ")}, not ${begins}…`);
      answers.push(file);
    }
    if (complaint === undefined ? files.length < left.length : !rejections.test(complaint))
      throw new Error(
        `helm gave no answer: ${complaint ?? "it pulled less than it was asked for"}`,
      );
    if (complaint === undefined) continue;
    const rest = unreadable.test(complaint) ? left.length - files.length : 1;
    answers.push(...Array.from({ length: rest }, () => rejected));
  }
  return answers;
}

function versionFlag(version: string): readonly string[] {
  return version === "" ? [] : [`--version=${version}`];
}
