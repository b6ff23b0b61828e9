/** What a container runs: its command and environment, as the kubelet derives them from the pod and the image. Pure. */
import type { ImageConfig } from "./image.ts";
import type { Container, Pod } from "./resources.ts";

/** What a pod may refer to. */
export interface Sources {
  /** The decoded data of a Secret; undefined if it does not exist. */
  secret(name: string): Readonly<Record<string, string>> | undefined;
  /** The data of a ConfigMap; undefined if it does not exist. */
  configMap(name: string): Readonly<Record<string, string>> | undefined;
}

export interface Command {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A pod that cannot be started yet; the message is shown as the reason of its container. */
export class ContainerConfigError extends Error {}

export interface CommandContext {
  readonly pod: Pod;
  readonly podIp: string;
  readonly image: ImageConfig;
  readonly sources: Sources;
  /** `host:port` of the API server. */
  readonly apiServer: string;
}

/** Throws ContainerConfigError for a Secret or ConfigMap that does not exist and is not optional. */
export function commandOf(container: Container, context: CommandContext): Command {
  const [host = "", port = ""] = context.apiServer.split(/:(?=\d+$)/);
  const environment: Record<string, string> = {
    ...context.image.environment,
    KUBERNETES_SERVICE_HOST: host,
    KUBERNETES_SERVICE_PORT: port,
    HOSTNAME: context.pod.metadata.name,
  };
  for (const { name, value, valueFrom } of container.env ?? []) {
    const text =
      valueFrom === undefined ? expand(value ?? "", environment) : resolve(valueFrom, context);
    if (text !== undefined) environment[name] = text;
  }
  const argv = [...(container.command ?? context.image.entrypoint), ...(container.args ?? [])].map(
    (text) => expand(text, environment),
  );
  return { argv, environment };
}

/** Replaces `$(NAME)` of a known variable; `$$(NAME)` stands for `$(NAME)`. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^)]+)\)/g, (found, name: string | undefined) =>
    name === undefined ? "$" : (environment[name] ?? found),
  );
}

type ValueFrom = NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>;

function resolve(from: ValueFrom, { pod, podIp, sources }: CommandContext): string | undefined {
  if (from.fieldRef !== undefined) return fieldOf(pod, podIp, from.fieldRef.fieldPath);
  if (from.secretKeyRef !== undefined)
    return keyOf("Secret", from.secretKeyRef, sources.secret(from.secretKeyRef.name ?? ""));
  if (from.configMapKeyRef !== undefined)
    return keyOf(
      "ConfigMap",
      from.configMapKeyRef,
      sources.configMap(from.configMapKeyRef.name ?? ""),
    );
  throw new ContainerConfigError("resource fields in environment variables are not supported");
}

interface KeyRef {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

function keyOf(
  kind: string,
  { name = "", key, optional }: KeyRef,
  data: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const value = data?.[key];
  if (value !== undefined || optional === true) return value;
  throw new ContainerConfigError(
    data === undefined ? `${kind} ${name} does not exist` : `${kind} ${name} has no key ${key}`,
  );
}

/** A field of the downward API. */
export function fieldOf(pod: Pod, podIp: string, path: string): string {
  switch (path) {
    case "metadata.name":
      return pod.metadata.name;
    case "metadata.namespace":
      return pod.metadata.namespace ?? "";
    case "metadata.uid":
      return pod.metadata.uid ?? "";
    case "spec.nodeName":
      return pod.spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec?.serviceAccountName ?? "";
    case "status.podIP":
    case "status.hostIP":
      return podIp;
  }
  throw new ContainerConfigError(`the field ${path} is not supported`);
}
