/** The answer to a plan, from what happens to its objects. Pure. */
import {
  maxPlanLineBytes,
  maxPlanTextBytes,
  type PlanAnswer,
  type PlanCounts,
  type PlanRemark,
  type PlanResult,
} from "@flotilla/shared/plan";
import { cutText } from "@flotilla/shared/text";
import { nameOf } from "./object-text.ts";
import { type PlannedObject, sha256 } from "./planned-object.ts";

export interface Found {
  /** Nothing is installed yet. */
  readonly isInstall: boolean;
  readonly objects: readonly PlannedObject[];
  /** Definitions of the chart's folder `crds`; they are not in the digest. */
  readonly crds: readonly {
    readonly action: "create" | "update" | "fails";
    readonly text: string;
    readonly why?: string;
  }[];
  /** The hooks that will run, by event. */
  readonly hooks: readonly {
    readonly kind: string;
    readonly name: string;
    readonly events: readonly string[];
  }[];
  readonly remarks: readonly PlanRemark[];
  readonly applied: string;
  readonly revision: number;
}

/** `rejectedCode`: the code of objects that would fail. */
export function planAnswer(found: Found, rejectedCode: string): PlanAnswer {
  const { isInstall, objects, crds, hooks, applied, revision } = found;
  const counts = countsOf(found);
  const failed = [...objects, ...crds].filter(({ action }) => action === "fails");
  const changes = counts.create + counts.update + counts.replace + counts.delete;
  const result =
    failed.length > 0 ? "fails" : isInstall ? "install" : changes > 0 ? "changes" : "none";
  const remarks = new Set<PlanRemark>([
    ...found.remarks,
    ...objects.flatMap((object) => object.remarks),
    ...(hooks.length > 0 ? (["Hooks"] as const) : []),
    ...(crds.length > 0 ? (["CrdsApplied"] as const) : []),
  ]);
  const text = cutPlanText(textOf(found));
  if (text.isCut) remarks.add("TextCut");
  const changed = objects.filter(({ action }) => action !== "none" && action !== "keep");
  return {
    result: {
      result,
      counts,
      applied,
      revision,
      digest: `sha256:${sha256({ result, objects: changed.map(({ digest }) => digest).toSorted() })}`,
      shape: `sha256:${sha256({ result, objects: changed.map(({ shape }) => shape).toSorted() })}`,
      remarks: [...remarks].toSorted(),
      hooks: hooks.length,
      failures: failed.length,
      ...(failed.length > 0 && { code: rejectedCode, message: failureText(objects, crds) }),
    },
    text: text.text,
  };
}

const nothing: PlanCounts = { create: 0, update: 0, replace: 0, delete: 0 };

/** What prevents the plan as a whole is its result as well: the upgrade would fail by it. */
export function failedPlan(
  { code, message }: { readonly code: string; readonly message: string },
  { applied, revision }: Pick<PlanResult, "applied" | "revision">,
): PlanAnswer {
  const digest = `sha256:${sha256({ result: "fails", code })}`;
  const result: PlanResult = {
    result: "fails",
    counts: nothing,
    digest,
    shape: digest,
    applied,
    revision,
    remarks: [],
    hooks: 0,
    failures: 0,
    code,
    message,
  };
  return { result, text: "" };
}

/** The release is in its desired state: Helm is not run for it. */
export function unchangedPlan({
  applied,
  revision,
}: Pick<PlanResult, "applied" | "revision">): PlanAnswer {
  const found = { isInstall: false, objects: [], crds: [], hooks: [], remarks: [] };
  return planAnswer({ ...found, applied, revision }, "");
}

function countsOf({ objects, crds }: Found): PlanCounts {
  const counts = { ...nothing };
  for (const { action } of [...objects, ...crds])
    if (action !== "none" && action !== "keep" && action !== "fails") counts[action] += 1;
  return counts;
}

/** Named in the message. */
const mostNamed = 3;

function failureText(objects: Found["objects"], crds: Found["crds"]): string {
  const failed = [
    ...crds.flatMap(({ why }) => (why === undefined ? [] : [why])),
    ...objects
      .filter(({ action }) => action === "fails")
      .map(({ object, why = "" }) => `${nameOf(object)}: ${why}`),
  ];
  const left = failed.length - mostNamed;
  const count = failed.length === 1 ? "1 object would fail" : `${failed.length} objects would fail`;
  const more = left > 0 ? `; and ${left} more` : "";
  return `${count}: ${failed.slice(0, mostNamed).join("; ")}${more}`;
}

/** What fails is the first. */
function textOf({ objects, crds, hooks }: Found): readonly string[] {
  const [failed, others] = [
    objects.filter(({ action }) => action === "fails"),
    objects.filter(({ action }) => action !== "fails"),
  ];
  return [
    ...failed.map(({ text }) => text),
    ...crds.map(({ text }) => text),
    ...others.map(({ text }) => text),
    ...hooks.map(({ kind, name, events }) => `# ${kind} ${name}: hook ${events.join(", ")}\n`),
  ];
}

const cutSentence = `# the text of the changes is longer than ${maxPlanTextBytes / 1024} KiB; the rest is left out\n`;

/** At the end of a line. */
export function cutPlanText(parts: readonly string[]): {
  readonly text: string;
  readonly isCut: boolean;
} {
  const left = maxPlanTextBytes - Buffer.byteLength(cutSentence);
  let bytes = 0;
  const kept: string[] = [];
  for (const [at, part] of parts.entries()) {
    const size = Buffer.byteLength(part);
    const isLast = at === parts.length - 1;
    if (bytes + size <= (isLast ? maxPlanTextBytes : left)) {
      bytes += size;
      kept.push(part);
      continue;
    }
    for (const line of part.split(/(?<=\n)/)) {
      bytes += Buffer.byteLength(line);
      if (bytes > left) break;
      kept.push(line);
    }
    return { text: `${kept.join("")}${cutSentence}`, isCut: true };
  }
  return { text: kept.join(""), isCut: false };
}

/** One line of JSON, within its limit: the message is cut. Without the line break. */
export function planLine(result: PlanResult): string {
  for (let chars = result.message?.length ?? 0; ; chars = Math.floor(chars / 2)) {
    const { message, ...others } = result;
    const cut =
      message === undefined ? {} : { message: chars === 0 ? "" : cutText(message, chars) };
    const line = JSON.stringify({ ...others, ...cut });
    if (Buffer.byteLength(line) <= maxPlanLineBytes || chars === 0) return line;
  }
}
