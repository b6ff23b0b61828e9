/** Why a container is not ready. Pure. */
import { fieldsOf, numberOf, textOf } from "./rule-input.ts";
import { shortText, withoutUrlSecrets } from "./short-text.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ContainerReason {
  /** `failed`: it cannot be started, or ends again and again. */
  readonly kind: "failed" | "unready";
  readonly message: string;
}

/** Reasons of a container that is being started, or waits for the init containers before it. */
const startingReasons = new Set(["", "ContainerCreating", "PodInitializing"]);

const imageReasons = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);

/** Undefined: it is ready, has completed, or is being started. */
export function containerReason(
  status: Fields,
  type: "init" | "main",
): ContainerReason | undefined {
  const name = `${type === "init" ? "init container" : "container"} ${textOf(status, "name")}`;
  const state = fieldsOf(status["state"]);
  if (state["waiting"] !== undefined)
    return waitingReason(name, status, fieldsOf(state["waiting"]));
  if (state["terminated"] !== undefined)
    return endReason(name, status, fieldsOf(state["terminated"]));
  if (state["running"] === undefined || status["ready"] === true) return undefined;
  // An init container with restartPolicy Always has `started`, and those after it are started.
  if (type === "init")
    return status["started"] === true
      ? undefined
      : { kind: "unready", message: `${name} has not completed` };
  const what = status["started"] === false ? "has not started up" : "runs but is not ready";
  return { kind: "unready", message: withEnd(`${name} ${what}`, status, "last ") };
}

function waitingReason(name: string, status: Fields, waiting: Fields): ContainerReason | undefined {
  const reason = textOf(waiting, "reason");
  if (startingReasons.has(reason)) return undefined;
  const message = kubeletText(waiting);
  if (reason === "CrashLoopBackOff")
    return { kind: "failed", message: withEnd(`${name} is in CrashLoopBackOff`, status) };
  if (imageReasons.has(reason)) {
    const image = textOf(status, "image");
    return {
      kind: "failed",
      message: `${name} cannot pull image "${image}": ${pullError(message, image) || reason}`,
    };
  }
  return { kind: "failed", message: `${name}: ${[reason, message].filter(Boolean).join(": ")}` };
}

/** A container that ended with an error; it may be about to be started again. */
function endReason(name: string, status: Fields, terminated: Fields): ContainerReason | undefined {
  if (numberOf(terminated, "exitCode") === 0) return undefined;
  return { kind: "failed", message: `${name} has ended: ${endText(status, terminated)}` };
}

/** With how it ended before it was started again. */
function withEnd(text: string, status: Fields, which = ""): string {
  const last = fieldsOf(fieldsOf(status["lastState"])["terminated"]);
  const end = endText(status, last);
  return end === "" ? text : `${text}: ${which}${end}`;
}

/** As "exit code 137 (OOMKilled), 3 restarts". The container's own message is omitted: it may be a part of its log. */
function endText(status: Fields, terminated: Fields): string {
  const { exitCode } = terminated;
  const reason = textOf(terminated, "reason");
  const restarts = numberOf(status, "restartCount");
  return [
    ...(typeof exitCode === "number"
      ? [`exit code ${exitCode}${reason === "" ? "" : ` (${reason})`}`]
      : []),
    ...(restarts > 0 ? [`${restarts} ${restarts === 1 ? "restart" : "restarts"}`] : []),
  ].join(", ");
}

/** The message of a failed hook is omitted: it is the output of the hook. */
function kubeletText(waiting: Fields): string {
  if (textOf(waiting, "reason") === "PostStartHookError") return "";
  return shortText(withoutUrlSecrets(textOf(waiting, "message")));
}

/** The cause, which newer kubelets repeat while they wait before the next attempt, so that the text stays the same. */
function pullError(message: string, image: string): string {
  // biome-ignore lint/plugin: the kubelet says it in a sentence alone
  return message
    .replace(`Back-off pulling image "${image}"`, "")
    .replace(/^: /, "")
    .replace(/^(?:ErrImagePull|RegistryUnavailable|SignatureValidationFailed): /, "");
}
