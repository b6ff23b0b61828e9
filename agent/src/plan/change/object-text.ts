/** What happens to one object, as text: a header, and the lines that differ as `flotilla diff` has them. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import {
  type DriftObject,
  isFields,
  objectDiff,
  replacedAt,
  segmentsOf,
  valueAt,
} from "../../observe/index.ts";
import type { FieldChange } from "./field-changes.ts";
import { generatedMark, hasSecret, type Masking } from "./masking.ts";
import type { PlannedAction } from "./planned-object.ts";

/** `Deployment shop/web`. */
export function nameOf({ kind, namespace, name }: DriftObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

export interface TextInput {
  readonly object: DriftObject;
  readonly action: PlannedAction;
  readonly why?: string | undefined;
  /** Undefined: it is not shown, or does not exist. */
  readonly live?: KubeObject | undefined;
  readonly planned?: KubeObject | undefined;
  readonly changes: readonly FieldChange[];
  readonly generated: readonly string[];
}

const words: Readonly<Record<PlannedAction, string>> = {
  none: "",
  create: "create",
  update: "update",
  replace: "replace: deleted and created again",
  delete: "delete",
  keep: "kept by helm.sh/resource-policy",
  fails: "fails",
};

/** Ends with a line break. Empty: nothing happens. */
export function objectText(input: TextInput, masking: Masking): string {
  const { object, action, why, planned } = input;
  if (action === "none") return "";
  const note = why === undefined ? "" : `: ${why}`;
  const header = `# ${nameOf(object)}: ${words[action]}${note}\n`;
  const diff = planned === undefined || action === "fails" ? "" : diffOf(input, planned, masking);
  return masking.redact(`${header}${diff}`);
}

function diffOf(
  { object, live, changes, generated }: TextInput,
  planned: KubeObject,
  masking: Masking,
): string {
  const title = `${object.apiVersion} ${nameOf(object)}`;
  // Both sides of a value that has a text of a Secret on one of them: on the other one may be the text that it had before.
  const hidden = changes
    .filter(({ pointer }) => pointer !== "")
    .filter(({ before, after }) => hasSecret(before, masking) || hasSecret(after, masking))
    .map(({ pointer }) => pointer);
  const before = live && replaced({ ...live }, hidden, "*** (live)");
  const after = replaced(
    replaced({ ...planned }, hidden, "*** (desired)"),
    generated.filter((pointer) => pointer !== ""),
    generatedMark,
  );
  return objectDiff(title, before, after);
}

/** Where there is something. */
function replaced(object: Json, pointers: readonly string[], mark: string): Json {
  return pointers.reduce((found, pointer) => {
    const segments = segmentsOf(pointer);
    const changed =
      valueAt(found, segments) === undefined ? found : replacedAt(found, segments, mark);
    return isFields(changed) ? changed : found;
  }, object);
}

type Json = Readonly<Record<string, unknown>>;
