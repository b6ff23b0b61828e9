/** Runs the exec plugin of a kubeconfig (`users[].user.exec`) as kubectl does, never interactively. */
import { spawn } from "node:child_process";
import { isAbsolute, join, sep } from "node:path";
import { AppError, messageOf } from "../../runtime/errors/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { kubeErrors } from "./errors.ts";
import type { ClientCertificate, ExecPlugin, KubeConfig } from "./kubeconfig.ts";

export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: ClientCertificate;
  /** Milliseconds since 1970; absent: valid until the server rejects it. */
  readonly expiresAt?: number;
}

const maxOutputBytes = 1024 * 1024;
const timeoutMs = 60_000;

export async function runExecPlugin(
  plugin: ExecPlugin,
  config: KubeConfig,
  clock: Clock,
): Promise<ExecCredential> {
  const output = await run(plugin, infoFor(plugin, config), clock);
  return parse(plugin, output);
}

function infoFor(plugin: ExecPlugin, config: KubeConfig): string {
  const cluster = {
    server: config.server,
    ...(config.tlsServerName === undefined ? {} : { "tls-server-name": config.tlsServerName }),
    ...(config.insecureSkipTlsVerify === true ? { "insecure-skip-tls-verify": true } : {}),
    ...(config.caData === undefined
      ? {}
      : { "certificate-authority-data": Buffer.from(config.caData).toString("base64") }),
    ...(config.proxyUrl === undefined ? {} : { "proxy-url": config.proxyUrl }),
  };
  return JSON.stringify({
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) },
  });
}

function run(plugin: ExecPlugin, info: string, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(commandPath(plugin), plugin.args, {
      env: { ...plugin.env, KUBERNETES_EXEC_INFO: info },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const timer = clock.setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const output: Buffer[] = [];
    let size = 0;
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) child.kill("SIGKILL");
      else output.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-500);
    });
    child.on("error", (error) => {
      timer.cancel();
      const hint = plugin.installHint === undefined ? "" : `; ${plugin.installHint}`;
      reject(failure(plugin, `${messageOf(error)}${hint}`));
    });
    child.on("close", (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(Buffer.concat(output).toString());
      else reject(failure(plugin, `exited with ${signal ?? `code ${code}`}: ${stderr.trim()}`));
    });
  });
}

/** As in kubectl: a command with a slash is relative to the kubeconfig, one without is looked up in PATH. */
function commandPath(plugin: ExecPlugin): string {
  return plugin.command.includes(sep) && !isAbsolute(plugin.command)
    ? join(plugin.directory, plugin.command)
    : plugin.command;
}

interface CredentialStatus {
  readonly token?: unknown;
  readonly clientCertificateData?: unknown;
  readonly clientKeyData?: unknown;
  readonly expirationTimestamp?: unknown;
}

/** The output is secret: no message has any of it. */
function parse(plugin: ExecPlugin, output: string): ExecCredential {
  let document: { readonly status?: CredentialStatus } | null;
  try {
    document = JSON.parse(output) as { readonly status?: CredentialStatus } | null;
  } catch {
    throw failure(plugin, "it did not print JSON");
  }
  const status = document?.status;
  const token = textOf(status?.token);
  const certificate = textOf(status?.clientCertificateData);
  const key = textOf(status?.clientKeyData);
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw failure(
      plugin,
      "it printed neither status.token nor status.clientCertificateData with status.clientKeyData",
    );
  }
  const expiresAt = Date.parse(textOf(status?.expirationTimestamp) ?? "");
  return {
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { certificate: { certificate, key } }),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function failure(plugin: ExecPlugin, what: string): AppError {
  return new AppError(
    kubeErrors.KUBE_CREDENTIALS,
    `get credentials from ${plugin.command}: ${what}`,
  );
}
