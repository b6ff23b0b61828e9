/**
 * What the API server refused of a run of Helm, from what Helm printed: the one place that reads these sentences, all of them of
 * Helm or of the API server (a table of real ones is in the test). Pure.
 */

/** An object in an error of Helm. */
export interface RefusedObject {
  /** Absent: Helm does not name it, or the object has none. */
  readonly namespace?: string;
  readonly kind: string;
  /** Empty for an object whose name the API server would make. */
  readonly name: string;
}

/** Why server-side apply refuses an object that a plain create or a patch does not. */
export interface StructuralRefusal {
  readonly object: RefusedObject;
  /** Empty: the whole object. */
  readonly field: string;
  /**
   * `DuplicateKey`: two entries of a list with the same key. `UnknownField`: the kind has no such field. `ServerField`: only the
   * API server sets it, and charts have it that were made of objects of a cluster. `Defaulted`: it was set by default, belongs to
   * no manager, and so stays beside a value that does not allow it: a Deployment that becomes `Recreate` keeps `rollingUpdate`.
   * `ControllerField`: a controller has written it, for which the chart has a placeholder: the replicas of what an autoscaler
   * scales.
   */
  readonly reason:
    | "DuplicateKey"
    | "UnknownField"
    | "GenerateName"
    | "ServerField"
    | "Defaulted"
    | "ControllerField";
}

/** An object whose change is refused although the object itself is valid. */
export interface ImmutableRefusal {
  readonly object: RefusedObject;
  readonly field: string;
}

/**
 * Why server-side apply failed, if it is for nothing but the structure of objects: the first of these reasons. With another method
 * they are no reasons to fail. Undefined: something else has failed, too.
 */
export function structuralRefusal(stderr: string): StructuralRefusal | undefined {
  const found = failures(errorOf(stderr)).map(structural);
  return found.every((each) => each !== undefined) ? found[0] : undefined;
}

/** All objects with a field that cannot be changed, each with the first such field. Undefined: something else has failed, too. */
export function immutableRefusals(stderr: string): readonly ImmutableRefusal[] | undefined {
  const found = failures(errorOf(stderr)).flatMap((each) => immutable(each) ?? "other");
  const refusals = found.filter((each) => each !== "other");
  return refusals.length === found.length && found.length > 0 ? refusals : undefined;
}

/** Whether Helm could not replace objects as a whole; a patch of them may succeed. */
export function hasFailedToReplace(stderr: string): boolean {
  return /(?:^Error: (?:UPGRADE FAILED: )?|&& )failed to replace object: /.test(errorOf(stderr));
}

/** Whether a patch by the client could not be made, because an entry of a list has no key. Helm names neither object nor list. */
export function lacksMergeKey(stderr: string): boolean {
  return /(?:^Error: (?:UPGRADE FAILED: )?|&& )failed to create patch: map: .* does not contain declared merge key: \w+(?:$| && )/m.test(
    errorOf(stderr),
  );
}

/** Why a server-side apply is in conflict with other field managers. */
export interface ApplyConflict {
  readonly managers: readonly string[];
  /** Such as `spec.replicas`. */
  readonly fields: readonly string[];
  /** All of them are controllers, for whose fields charts have placeholders. */
  readonly isWithControllers: boolean;
}

/** From the message of the API server; undefined: it is about something else. */
export function applyConflictOf(answer: string): ApplyConflict | undefined {
  const [head] = conflictHead.exec(answer) ?? [];
  if (head === undefined) return undefined;
  const managers = new Set<string>();
  const fields: string[] = [];
  let rest = answer.slice(head.length).trim();
  while (rest !== "") {
    const [text, manager, single, list = ""] = conflict.exec(rest) ?? [];
    if (text === undefined || manager === undefined) break;
    managers.add(manager);
    const listed = list.split("\n- ").filter((each) => each !== "");
    fields.push(...(single === undefined ? listed : [single]).map((each) => each.slice(1)));
    rest = rest.slice(text.length).trim();
  }
  const isWithControllers = rest === "" && [...managers].every((each) => controllers.has(each));
  return { managers: [...managers], fields, isWithControllers };
}

/** What the API server says of an object that it rejects as invalid, without the values in it: they may be secret. */
export interface RejectedField {
  /** The first one; empty: it names none. */
  readonly field: string;
  /** Such as `field is immutable`: a change of it is never accepted. Absent: another rule. */
  readonly immutable?: string;
}

/** From the message of the API server. */
export function rejectedFieldOf(answer: string): RejectedField {
  const at = answer.indexOf('" is invalid: ');
  const rule = at < 0 ? answer : answer.slice(at + '" is invalid: '.length);
  const sentence = withoutValue(rule);
  const found = unchangeable.flatMap((pattern) => pattern.exec(sentence)?.[0] ?? []);
  const [immutable] = found;
  return { field: cause.exec(rule)?.[1] ?? "", ...(immutable !== undefined && { immutable }) };
}

/** Whether an admission webhook would have to be called that has side effects, by the message of the API server. */
export function lacksDryRun(answer: string): boolean {
  return /admission webhook "[^"]*" does not support dry run/.test(answer);
}

/** Whether Helm does not know a kind: it is not installed, or not yet. */
export function lacksKind(stderr: string): boolean {
  return /no matches for kind "/.test(errorOf(stderr));
}

/** `Job ns/once`, for messages. */
export function refusedText({ kind, namespace, name }: RefusedObject): string {
  const place = namespace === undefined ? "" : `${namespace}/`;
  return name === "" ? `a ${kind} without a name` : `${kind} ${place}${name}`;
}

/** From its last `Error:` line on, of which a diff of objects may have many. */
function errorOf(stderr: string): string {
  const lines = stderr.split("\n");
  const at = lines.findLastIndex((line) => line.startsWith("Error: "));
  return at < 0 ? "" : lines.slice(at).join("\n");
}

/** Where the error of an object begins; the values in it may have any text. */
const start =
  /(?:^|&& |\n|: )(?=(?:(?:server-side apply failed for|conflict occurred while applying) object \S*\/\S* \S+, Kind=\w+: |cannot patch "[^"]+" with kind \w+: ))/;

/** One for each object. Helm joins them by line breaks when it creates, and by `&&` when it updates. */
function failures(error: string): readonly string[] {
  const [, ...parts] = error.split(start);
  return parts;
}

const applied =
  /^(?:server-side apply failed for|conflict occurred while applying) object ([^\s/]*)\/(\S*) \S+, Kind=(\w+): /;
const patched = /^cannot patch "([^"]+)" with kind (\w+): /;

function objectOf(failure: string): { readonly object: RefusedObject; readonly why: string } {
  const [head = "", namespace = "", name = "", kind = ""] = applied.exec(failure) ?? [];
  if (head !== "")
    return {
      object: { ...(namespace !== "" && { namespace }), kind, name },
      why: failure.slice(head.length),
    };
  const [prefix = "", patchedName = "", patchedKind = ""] = patched.exec(failure) ?? [];
  return { object: { kind: patchedKind, name: patchedName }, why: failure.slice(prefix.length) };
}

const typed = /^failed to create typed patch object \([^)]*\): (?:errors:\n)?/;
const structures = [
  { pattern: /^(\.\S+): duplicate entries for key \[.*\]$/, reason: "DuplicateKey" },
  { pattern: /^(\.\S+): field not declared in schema$/, reason: "UnknownField" },
] as const;

/** The UID of none of an object that does not exist: a plain create leaves the UID out. */
const uidOfNone =
  /^Operation cannot be fulfilled on \S+ "[^"]+": uid mismatch: the provided object specified uid \S+, and no existing object was found$/;

const forbiddenBeside =
  /^\S+ "[^"]+" is invalid: (spec\.strategy\.rollingUpdate): Forbidden: may not be specified when strategy `type` is 'Recreate'$/;

/**
 * Managers of fields that charts have as placeholders: the controllers of Kubernetes, as which autoscalers write, too, and the one of
 * cert-manager that fills in authorities. What people and other programs have is theirs, as with Helm.
 */
const controllers: ReadonlySet<string> = new Set([
  "kube-controller-manager",
  "cloud-controller-manager",
  "clusterrole-aggregation-controller",
  "kube-scheduler",
  "cert-manager-cainjector",
]);

const conflictHead = /^Apply failed with \d+ conflicts?: /;
/** A conflict with one manager: one field behind it, or a list below it. */
const conflict =
  /^conflicts? with "([^"]+)"(?: with subresource "[^"]+")?(?: using \S+?)?(?: at \S+)?:(?: (\.\S+)|((?:\n- \.\S+)+))(?:\n|$)/;

/** The first field, if controllers alone have all that are in conflict. */
function controllerField(why: string): string | undefined {
  const found = applyConflictOf(why);
  return found?.isWithControllers === true ? found.fields[0] : undefined;
}

function structural(failure: string): StructuralRefusal | undefined {
  return refusedStructure(objectOf(failure), applied.test(failure));
}

/**
 * Why a server-side apply of one object was refused for its structure, from the message of the API server. `isApply`: false: a patch
 * was. Undefined: for something else.
 */
export function refusedStructure(
  { object, why }: { readonly object: RefusedObject; readonly why: string },
  isApply = true,
): StructuralRefusal | undefined {
  const field = controllerField(why);
  if (field !== undefined) return { object, field, reason: "ControllerField" };
  if (object.name === "" && why.trim() === "resource name may not be empty")
    return { object, field: "metadata.generateName", reason: "GenerateName" };
  if (why.trim() === "metadata.managedFields must be nil")
    return { object, field: "metadata.managedFields", reason: "ServerField" };
  if (uidOfNone.test(why.trim())) return { object, field: "metadata.uid", reason: "ServerField" };
  const [, strategy] = forbiddenBeside.exec(why.trim()) ?? [];
  if (strategy !== undefined && isApply) return { object, field: strategy, reason: "Defaulted" };
  const [head] = typed.exec(why) ?? [];
  if (head === undefined) return undefined;
  const causes = why.slice(head.length).trim().split("\n");
  const found = causes.map((cause) =>
    structures.flatMap(({ pattern, reason }) => {
      const [, field] = pattern.exec(cause.trim()) ?? [];
      return field === undefined ? [] : [{ object, field: field.slice(1), reason }];
    }),
  );
  return found.every(([each]) => each !== undefined) ? found[0]?.[0] : undefined;
}

/** A path of a field, and how the API server says that its value is refused. */
const cause = /(?:^|[[,] ?)([A-Za-z][\w.[\]"-]*): (?:Invalid value|Forbidden)/;

/** How the rules of Kubernetes' own kinds end, and those that authors of other kinds write. */
const unchangeable = [
  /field is immutable/,
  /\bis immutable\b/,
  /may not be changed in an update/,
  /may not change once set/,
  /cannot change roleRef/,
  /updates? to .{1,80} (?:are forbidden|is forbidden|forbidden)/,
  /updates may not change fields other than/,
  /updates to \w+ spec for fields other than/,
];

function immutable(failure: string): ImmutableRefusal | undefined {
  const { object, why } = objectOf(failure);
  const at = why.indexOf('" is invalid: ');
  if (object.name === "" || at < 0) return undefined;
  const rule = why.slice(at + '" is invalid: '.length);
  if (!unchangeable.some((pattern) => pattern.test(withoutValue(rule)))) return undefined;
  return { object, field: cause.exec(rule)?.[1] ?? "" };
}

/** The value of a field may be long, have any text, and be secret; the sentence of the rule follows it. */
function withoutValue(rule: string): string {
  const sentence = rule.split("\n", 1)[0] ?? "";
  const from = sentence.lastIndexOf('": ');
  const json = Math.max(sentence.lastIndexOf("}: "), sentence.lastIndexOf("]: "), from);
  return /: Invalid value: /.test(sentence) && json >= 0 ? sentence.slice(json) : sentence;
}
