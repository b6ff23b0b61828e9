/** `--probe=URL`: asks the health server of a process, from an image that has no other HTTP client. */
import { AppError, commonErrors, messageOf } from "../errors/index.ts";

const timeoutMs = 10_000;

/** The URL of the flag; `undefined` when it is not there. */
export function probeUrl(args: readonly string[]): string | undefined {
  return args.find((each) => each.startsWith("--probe="))?.slice("--probe=".length);
}

/** Resolves when the answer is a success; otherwise throws with the answer, which says what is wrong. */
export async function probe(url: string): Promise<void> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (thrown) {
    throw new AppError(commonErrors.PROBE_FAILED, `probe ${url}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  const answer = (await response.text()).trim();
  if (response.ok) return;
  throw new AppError(
    commonErrors.PROBE_FAILED,
    `probe ${url}: HTTP status ${response.status}: ${answer}`,
  );
}
