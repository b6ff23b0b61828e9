/**
 * Reads one context of a kubeconfig (`apiVersion: v1, kind: Config`), with the files that it refers to. Of several files, such as
 * `KUBECONFIG` names, the first one with an entry counts, as in kubectl.
 */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { JSON_SCHEMA, load, YAMLException } from "js-yaml";
import { AppError, messageOf } from "../../runtime/errors/index.ts";
import { kubeErrors } from "./errors.ts";
import type {
  ClientCertificate,
  Environment,
  ExecPlugin,
  Impersonation,
  KubeConfig,
  KubeCredentials,
} from "./kubeconfig.ts";

export interface KubeconfigFile {
  /** One file, or several, of which those that do not exist are ignored. */
  readonly path: string | readonly string[];
  readonly context?: string;
  readonly env: Environment;
}

/** A mapping of the file with its place, which every message names. */
interface Section {
  readonly values: Readonly<Record<string, unknown>>;
  /** The file and the field: `/home/me/.kube/config: users[me].user`. */
  readonly where: string;
  /** The base of relative paths. */
  readonly directory: string;
}

export async function readKubeconfig(file: KubeconfigFile): Promise<KubeConfig> {
  const roots = await readRoots(file.path);
  const contextName = file.context ?? firstOf(roots, (root) => text(root, "current-context"));
  if (contextName === undefined)
    throw invalid(roots[0], "current-context", "it is not set, and no context is requested");
  const context = named(roots, "contexts", contextName, "context");
  const cluster = named(roots, "clusters", required(context, "cluster"), "cluster");
  const userName = text(context, "user");
  const user = userName === undefined ? undefined : named(roots, "users", userName, "user");

  const caData = await fileOrData(cluster, "certificate-authority");
  const insecure = flag(cluster, "insecure-skip-tls-verify");
  if (insecure && caData !== undefined)
    throw invalid(cluster, "insecure-skip-tls-verify", "it contradicts certificate-authority");
  const tlsServerName = text(cluster, "tls-server-name");
  const proxyUrl = text(cluster, "proxy-url");
  const namespace = text(context, "namespace");
  const clientCertificate = user === undefined ? undefined : await clientCertificateOf(user);
  const impersonate = user === undefined ? undefined : impersonationOf(user);

  return {
    server: serverOf(cluster),
    credentials: user === undefined ? { kind: "none" } : credentialsOf(user, file.env),
    context: contextName,
    ...(caData === undefined ? {} : { caData }),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl: urlOf(cluster, "proxy-url", proxyUrl) }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

/** At least one. */
type Roots = readonly [Section, ...Section[]];

async function readRoots(path: KubeconfigFile["path"]): Promise<Roots> {
  if (typeof path === "string") return [await readRoot(path)];
  const found: Section[] = [];
  let missing: AppError | undefined;
  for (const each of path)
    try {
      found.push(await readRoot(each));
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
      missing ??= thrown;
    }
  const [first, ...others] = found;
  if (first !== undefined) return [first, ...others];
  throw missing ?? new AppError(kubeErrors.KUBECONFIG_INVALID, "load kubeconfig: no file is given");
}

function isMissing(thrown: unknown): thrown is AppError {
  if (!(thrown instanceof AppError)) return false;
  const { cause } = thrown;
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}

function firstOf<T>(roots: Roots, read: (root: Section) => T | undefined): T | undefined {
  for (const root of roots) {
    const value = read(root);
    if (value !== undefined) return value;
  }
  return undefined;
}

async function readRoot(path: string): Promise<Section> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    throw new AppError(
      kubeErrors.KUBECONFIG_INVALID,
      `read kubeconfig ${path}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  let values: unknown;
  try {
    values = load(content, { schema: JSON_SCHEMA, json: true });
  } catch (error) {
    // The parser's own message quotes the text, which is secret.
    const problem =
      error instanceof YAMLException
        ? `${error.reason} in line ${error.mark.line + 1}`
        : "it cannot be parsed";
    throw new AppError(
      kubeErrors.KUBECONFIG_INVALID,
      `read kubeconfig ${path}: it is not YAML: ${problem}`,
    );
  }
  if (!isMapping(values))
    throw new AppError(
      kubeErrors.KUBECONFIG_INVALID,
      `read kubeconfig ${path}: it is not a mapping`,
    );
  return { values, where: `kubeconfig ${path}`, directory: dirname(path) };
}

/** The entry of a list such as `clusters: [{name, cluster: {…}}]`, in the first file that has it. */
function named(roots: Roots, list: string, name: string, field: string): Section {
  const found = firstOf(roots, (root) => entryOf(root, list, name, field));
  if (found !== undefined) return found;
  const isList = roots.some((root) => Array.isArray(root.values[list]));
  const expected = isList
    ? `there is no ${field} "${name}"`
    : `it is not a list; expected one with ${field} "${name}"`;
  throw invalid(roots[0], list, expected);
}

function entryOf(root: Section, list: string, name: string, field: string): Section | undefined {
  const entries = root.values[list];
  if (!Array.isArray(entries)) return undefined;
  const entry = entries.find(
    (candidate: unknown) => isMapping(candidate) && candidate["name"] === name,
  ) as unknown;
  if (!isMapping(entry)) return undefined;
  const values = entry[field] ?? {};
  if (!isMapping(values)) throw invalid(root, `${list}[${name}].${field}`, "it is not a mapping");
  return { values, where: `${root.where}: ${list}[${name}].${field}`, directory: root.directory };
}

function serverOf(cluster: Section): string {
  const server = urlOf(cluster, "server", required(cluster, "server"));
  const { protocol } = new URL(server);
  if (protocol !== "https:" && protocol !== "http:")
    throw invalid(cluster, "server", "it is neither https nor http");
  return server.replace(/\/+$/, "");
}

async function clientCertificateOf(user: Section): Promise<ClientCertificate | undefined> {
  const certificate = await fileOrData(user, "client-certificate");
  const key = await fileOrData(user, "client-key");
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined)
    throw invalid(user, "client-certificate", "it is missing, while there is a client-key");
  if (key === undefined)
    throw invalid(user, "client-key", "it is missing, while there is a client-certificate");
  return { certificate, key };
}

/** As in kubectl: a token file before a token, both before a plugin. */
function credentialsOf(user: Section, env: Environment): KubeCredentials {
  const tokenFile = text(user, "tokenFile");
  if (tokenFile !== undefined) return { kind: "token-file", path: resolve(user, tokenFile) };
  const token = text(user, "token");
  if (token !== undefined) return { kind: "token", token };
  const username = text(user, "username");
  if (username !== undefined)
    return { kind: "basic", username, password: text(user, "password") ?? "" };
  if (user.values["exec"] !== undefined) return { kind: "exec", exec: execOf(user, env) };
  if (user.values["auth-provider"] !== undefined) {
    throw invalid(user, "auth-provider", "Kubernetes no longer supports it; use an exec plugin");
  }
  return { kind: "none" };
}

function execOf(user: Section, env: Environment): ExecPlugin {
  const values = user.values["exec"];
  if (!isMapping(values)) throw invalid(user, "exec", "it is not a mapping");
  const exec: Section = { values, where: `${user.where}.exec`, directory: user.directory };
  if (text(exec, "interactiveMode") === "Always") {
    throw invalid(
      exec,
      "interactiveMode",
      'it is "Always", but plugins run without a terminal here',
    );
  }
  const own: Record<string, string> = {};
  for (const entry of listOf(exec, "env")) {
    if (!isMapping(entry) || typeof entry["name"] !== "string")
      throw invalid(exec, "env", "an entry has no name");
    own[entry["name"]] = typeof entry["value"] === "string" ? entry["value"] : "";
  }
  const installHint = text(exec, "installHint");
  return {
    apiVersion: required(exec, "apiVersion"),
    command: required(exec, "command"),
    args: texts(exec, "args"),
    env: { ...env, ...own },
    provideClusterInfo: flag(exec, "provideClusterInfo"),
    directory: exec.directory,
    ...(installHint === undefined ? {} : { installHint }),
  };
}

function impersonationOf(user: Section): Impersonation | undefined {
  const name = text(user, "as");
  if (name === undefined) return undefined;
  const uid = text(user, "as-uid");
  return { user: name, groups: texts(user, "as-groups"), ...(uid === undefined ? {} : { uid }) };
}

/** `field` names a file; `field-data` has its content in base64 and takes precedence. */
async function fileOrData(section: Section, field: string): Promise<string | undefined> {
  const data = text(section, `${field}-data`);
  if (data !== undefined) {
    const decoded = Buffer.from(data, "base64").toString();
    if (!decoded.includes("-----BEGIN "))
      throw invalid(section, `${field}-data`, "it is not PEM in base64");
    return decoded;
  }
  const path = text(section, field);
  if (path === undefined) return undefined;
  const resolved = resolve(section, path);
  let content: string;
  try {
    content = await readFile(resolved, "utf8");
  } catch (error) {
    throw invalid(section, field, `read ${resolved}: ${messageOf(error)}`);
  }
  if (!content.includes("-----BEGIN ")) throw invalid(section, field, `${resolved} is not PEM`);
  return content;
}

function resolve(section: Section, path: string): string {
  return isAbsolute(path) ? path : join(section.directory, path);
}

function urlOf(section: Section, field: string, value: string): string {
  if (!URL.canParse(value)) throw invalid(section, field, "it is not a URL");
  return value;
}

function text(section: Section, field: string): string | undefined {
  const value = section.values[field];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw invalid(section, field, "it is not a string");
  return value;
}

function required(section: Section, field: string): string {
  const value = text(section, field);
  if (value === undefined) throw invalid(section, field, "it is not set");
  return value;
}

function flag(section: Section, field: string): boolean {
  const value = section.values[field];
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw invalid(section, field, "it is neither true nor false");
  return value;
}

function listOf(section: Section, field: string): readonly unknown[] {
  const value = section.values[field];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(section, field, "it is not a list");
  return value;
}

function texts(section: Section, field: string): readonly string[] {
  return listOf(section, field).map((item) => {
    if (typeof item !== "string") throw invalid(section, field, "an entry is not a string");
    return item;
  });
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(section: Section, field: string, problem: string): AppError {
  return new AppError(kubeErrors.KUBECONFIG_INVALID, `${section.where}: ${field}: ${problem}`);
}
