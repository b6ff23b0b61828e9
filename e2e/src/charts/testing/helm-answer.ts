/** What the real Helm answers when it is asked for a chart by a constraint: the version, or that it refuses. */
import { runHelm } from "@flotilla/local/registries/run-helm.ts";

export interface HelmQuestion {
  readonly helm: string;
  readonly home: string;
  /** What names the chart to `helm show chart`. */
  readonly chart: readonly string[];
  readonly wanted: string;
  readonly credentials?: {
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
}

export async function helmAnswer(question: HelmQuestion): Promise<string> {
  const { wanted, chart, ...run } = question;
  try {
    const shown = await runHelm(
      ["show", "chart", ...chart, ...(wanted === "" ? [] : [`--version=${wanted}`])],
      run,
    );
    return /^version: *["']?([^"'\s]+)/m.exec(shown)?.[1] ?? "unreadable";
  } catch {
    return "refused";
  }
}
