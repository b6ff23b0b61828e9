/** The baseline of connected agents: the same number of streams between two programs that have nothing but grpc-js. */
import { type ChildProcess, fork } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createAgentKey } from "@flotilla/agent/state";
import { createAuthority, openAuthority } from "@flotilla/hub/link";
import { memoryMb, timed } from "../measure/bench-fleet.ts";
import { giveWay } from "../measure/priority.ts";

interface Certificate {
  readonly authorityPem: string;
  readonly keyPem: string;
  readonly chainPem: string;
}

/** Messages to the two programs. */
export type BareOrder =
  | ({ readonly kind: "serve"; readonly clients: number } & Certificate)
  | ({ readonly kind: "connect"; readonly address: string; readonly clients: number } & Certificate)
  | { readonly kind: "broadcast"; readonly bytes: number }
  | { readonly kind: "settle" };

/** Their responses. */
export type BareMessage =
  | { readonly kind: "ready" | "connected" | "heard" }
  | { readonly kind: "serving"; readonly port: number }
  | { readonly kind: "settled"; readonly lagMs: number };

export interface BareFigures {
  /** The memory of the server for each client, KiB. */
  readonly kibPerClient: number;
  readonly connectMs: number;
  /** From a message to all clients until the last one has it. */
  readonly broadcastMs: number;
  /** The lag of the server while they connect, 99th percentile. */
  readonly connectLagMs: number;
  readonly idleLagMs: number;
}

const program = fileURLToPath(new URL("./bare-grpc-main.ts", import.meta.url));
const lifetimeMs = 3_600_000;

export async function measureBareGrpc(
  clients: number,
  bytes: number,
  idle: () => Promise<unknown>,
): Promise<BareFigures> {
  const { ofServer, ofClients } = await issueCertificates();
  const server = await start("server");
  const client = await start("clients");
  if (client.pid !== undefined) giveWay(client.pid);
  try {
    const { port } = await ask(server, { kind: "serve", clients, ...ofServer }, "serving");
    await ask(server, { kind: "settle" }, "settled");
    const before = await memoryMb(server.pid ?? 0);
    const address = `127.0.0.1:${port}`;
    const connectMs = await timed(async () => {
      client.send({ kind: "connect", address, clients, ...ofClients });
      await answer(server, "connected");
    });
    const { lagMs: connectLagMs } = await ask(server, { kind: "settle" }, "settled");
    await idle();
    const { lagMs: idleLagMs } = await ask(server, { kind: "settle" }, "settled");
    const after = await memoryMb(server.pid ?? 0);
    const broadcastMs = await timed(async () => {
      server.send({ kind: "broadcast", bytes });
      await answer(client, "heard");
    });
    return {
      kibPerClient: ((after - before) * 1024) / clients,
      connectMs,
      broadcastMs,
      connectLagMs,
      idleLagMs,
    };
  } finally {
    for (const child of [client, server]) child.kill("SIGKILL");
  }
}

/** One for the server, one for all clients. */
async function issueCertificates(): Promise<{
  readonly ofServer: Certificate;
  readonly ofClients: Certificate;
}> {
  const authority = await openAuthority(await createAuthority(Date.now()), Date.now);
  const authorityPem = authority.authoritiesPem;
  const { keyPem, chainPem } = await authority.issueServing(["127.0.0.1"], lifetimeMs);
  const clientKeyPem = await createAgentKey();
  const chain = await authority.issueClient({
    identity: { hubId: "bare", namespace: "bare", name: "bare", uid: "bare" },
    spki: createPublicKey(clientKeyPem).export({ format: "der", type: "spki" }),
    lifetimeMs,
  });
  return {
    ofServer: { authorityPem, keyPem, chainPem },
    ofClients: { authorityPem, keyPem: clientKeyPem, chainPem: chain },
  };
}

async function start(role: string): Promise<ChildProcess> {
  const child = fork(program, [role], {
    execArgv: ["--max-semi-space-size=8", "--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await answer(child, "ready");
  return child;
}

async function ask<K extends BareMessage["kind"]>(
  child: ChildProcess,
  order: BareOrder,
  kind: K,
): Promise<Extract<BareMessage, { kind: K }>> {
  const answered = answer(child, kind);
  child.send(order);
  return await answered;
}

/** Rejects when the program ends instead. */
function answer<K extends BareMessage["kind"]>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<BareMessage, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: BareMessage): void => {
      if (!isOf(message, kind)) return;
      stop();
      resolve(message);
    };
    const onExit = (): void => {
      stop();
      reject(new Error(`bare grpc-js ended before it was ${kind}`));
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}

function isOf<K extends BareMessage["kind"]>(
  message: BareMessage,
  kind: K,
): message is Extract<BareMessage, { kind: K }> {
  return message.kind === kind;
}
