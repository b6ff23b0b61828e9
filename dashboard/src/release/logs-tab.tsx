/** The logs of the pods of the release. */
import { useEffect, useMemo, useRef, useState } from "react";
import { CheckField, SearchField, SelectField } from "../field/index.ts";
import { type Answer, Shown, useAnswer } from "../requests/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { type LogLine, logText, parseLog, shownLines } from "./log-lines.ts";
import type { TabProps } from "./tab-props.ts";

export interface LogsTabProps extends TabProps {
  /** Only of this pod; "": of all. */
  readonly pod: string;
  readonly setPod: (pod: string) => void;
}

export function LogsTab({ path, change, pod, setPod }: LogsTabProps) {
  const [isPrevious, setPrevious] = useState(false);
  const [isFollowed, setFollowed] = useState(false);
  const [isWrapped, setWrapped] = useState(false);
  const [text, setText] = useState("");
  const [only, setOnly] = useState("");
  const [read, setRead] = useState(0);
  const query = new URLSearchParams({
    tail: "200",
    ...(isPrevious && { previous: "true" }),
    ...(pod !== "" && { pod }),
  });
  const answer = useAnswer(`${path}/log?${query.toString()}`, `${read} ${change}`);
  useReadAgain(isFollowed, answer, setRead);
  const log = useMemo(() => parseLog(answer.text), [answer.text]);
  const lines = useMemo(() => shownLines(log, { only, text }), [log, only, text]);
  const isOfSeveral = only === "" && log.origins.length > 1;
  const name = only === "" ? pod || "release" : only.replace("/", "-");
  return (
    <>
      <div className="panel-head">
        <SearchField
          name="Search in the log"
          placeholder="Search in the log"
          value={text}
          onChange={setText}
        />
        {(log.origins.length > 1 || only !== "") && (
          <SelectField
            name="Container"
            all="every container"
            values={log.origins}
            value={only}
            onChange={setOnly}
          />
        )}
        <CheckField name="previous container" checked={isPrevious} onChange={setPrevious} />
        <CheckField name="follow" checked={isFollowed} onChange={setFollowed} />
        <CheckField name="wrap lines" checked={isWrapped} onChange={setWrapped} />
        {pod !== "" && (
          <button type="button" className="button" onClick={() => setPod("")}>
            Show all pods (only {pod} now)
          </button>
        )}
        <button type="button" className="button" onClick={() => setRead(read + 1)}>
          Refresh
        </button>
        <CopyOrSave text={() => logText(lines, isOfSeveral)} name={`${name}.log`} />
      </div>
      <Shown answer={answer}>
        <Lines
          lines={lines}
          isOfSeveral={isOfSeveral}
          isWrapped={isWrapped}
          isFollowed={isFollowed}
        />
      </Shown>
    </>
  );
}

const followMs = 3_000;

/** Reads the newest lines again a while after each answer, as long as the page is open and seen. */
function useReadAgain(
  isFollowed: boolean,
  answer: Answer,
  setRead: (next: (read: number) => number) => void,
): void {
  useEffect(() => {
    if (!isFollowed || !answer.isComplete) return undefined;
    let timer: number;
    const wait = () => {
      timer = window.setTimeout(() => {
        if (document.hidden) wait();
        else setRead((read) => read + 1);
      }, followMs);
    };
    wait();
    return () => window.clearTimeout(timer);
  }, [isFollowed, answer, setRead]);
}

function CopyOrSave({ text, name }: { readonly text: () => string; readonly name: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button"
        onClick={() => void navigator.clipboard.writeText(text()).then(() => setCopied(true))}
      >
        {isCopied ? "Copied" : "Copy"}
      </button>
      <button type="button" className="button" onClick={() => save(text(), name)}>
        Download
      </button>
    </>
  );
}

function save(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly isOfSeveral: boolean;
  readonly isWrapped: boolean;
  /** The last line is kept in sight. */
  readonly isFollowed: boolean;
}

function Lines({ lines, isOfSeveral, isWrapped, isFollowed }: LinesProps) {
  const region = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new answer has new lines
  useEffect(() => {
    if (isFollowed && region.current !== null)
      region.current.scrollTop = region.current.scrollHeight;
  }, [isFollowed, lines]);
  return (
    <pre ref={region} className={isWrapped ? "lines lines-wrapped" : "lines"} {...scrollRegion}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same
        <Line key={index} line={line} isOfSeveral={isOfSeveral} />
      ))}
    </pre>
  );
}

function Line({ line, isOfSeveral }: { readonly line: LogLine; readonly isOfSeveral: boolean }) {
  const { origin, time, text } = line;
  return (
    <>
      {isOfSeveral && origin !== "" && <span className="soft">[{origin}] </span>}
      {time !== undefined && (
        <>
          <time dateTime={time} title={time} className="soft">
            {new Date(time).toLocaleTimeString()}
          </time>{" "}
        </>
      )}
      {text}
      {"\n"}
    </>
  );
}
