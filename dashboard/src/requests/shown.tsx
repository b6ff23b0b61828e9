/** What of an answer has arrived, and why it is not complete. */
import type { ReactNode } from "react";
import type { Answer } from "./answer.ts";

export interface ShownProps {
  readonly answer: Answer;
  readonly children: ReactNode;
}

export function Shown({ answer, children }: ShownProps) {
  return (
    <>
      {answer.problem !== undefined && <p role="alert">{answer.problem}</p>}
      {children}
      {!answer.isComplete && <p className="soft">Loading …</p>}
    </>
  );
}
