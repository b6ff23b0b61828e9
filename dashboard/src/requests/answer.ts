/** An answer of the agent of a cluster, read as it arrives; it ends when nobody looks any more. */
import { useEffect, useState } from "react";
import { ApiError, send } from "../api/index.ts";

export interface Answer {
  readonly text: string;
  readonly isComplete: boolean;
  /** Why it is not complete, or why there is none. */
  readonly problem?: string;
}

interface Line {
  readonly data?: string;
  readonly end?: { readonly message?: string };
}

const nothing: Answer = { text: "", isComplete: false };

/**
 * Each new `path`, and each new `attempt`, is a new request. What was read before from the same path stays until the new answer is
 * complete.
 */
export function useAnswer(path: string, attempt = ""): Answer {
  const [read, setRead] = useState({ path, answer: nothing });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt is a request of its own
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let text = "";
    const show = (answer: Omit<Answer, "text">) =>
      setRead((before) =>
        before.path === path && before.answer.isComplete && !answer.isComplete
          ? before
          : { path, answer: { text, ...answer } },
      );
    async function request(): Promise<void> {
      const response = await send(path, { signal });
      for await (const line of linesOf(response)) {
        text += line.data ?? "";
        const { message } = line.end ?? {};
        if (line.end !== undefined)
          return show({ isComplete: true, ...(message !== undefined && { problem: message }) });
        show({ isComplete: false });
      }
      show({ isComplete: true, problem: "The answer ended before it was complete." });
    }
    request().catch((thrown: unknown) => {
      if (signal.aborted) return;
      const problem = thrown instanceof ApiError ? thrown.message : "The answer was interrupted.";
      show({ isComplete: true, problem });
    });
    return () => leaving.abort();
  }, [path, attempt]);
  return read.path === path ? read.answer : nothing;
}

async function* linesOf(response: Response): AsyncIterable<Line> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as Line;
  }
}
