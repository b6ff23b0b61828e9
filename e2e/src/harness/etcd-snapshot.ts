/**
 * Resets a control plane by resetting its etcd while everything runs: keys that came since the snapshot are deleted, changed
 * ones get their value back. The API server follows etcd by watches, so it and its clients see ordinary deletions and
 * updates; no finalizer and no namespace controller is waited for.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, credentials, type MethodDefinition } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

export interface EtcdSnapshot {
  /** Restores the contents of the snapshot. */
  restore(): Promise<void>;
  close(): void;
}

export interface EtcdAccess {
  /** The folder with the certificate that the API server uses. */
  readonly pkiDir: string;
  readonly port: number;
}

/**
 * All objects. The API server's own key `compact_rev_key` is not among them: without it the API server panics at its next
 * compaction, five minutes after the last one.
 */
const registry = { key: Buffer.from("/registry/"), rangeEnd: Buffer.from("/registry0") };

/** Keys that are never restored: the fake node and its heartbeats, which kwok writes all the time. */
const livePrefixes = ["/registry/minions/", "/registry/leases/kube-node-lease/"];

/** The most operations that etcd takes in one transaction. */
const operationsAtOnce = 128;

interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly modRevision: string;
}

type Operation =
  | { readonly requestPut: { readonly key: Buffer; readonly value: Buffer } }
  | { readonly requestDeleteRange: { readonly key: Buffer } };

interface Etcd {
  range(request: object): Promise<{ readonly kvs: readonly KeyValue[] }>;
  txn(request: {
    readonly success: readonly Operation[];
  }): Promise<{ readonly header: { readonly revision: string } }>;
  close(): void;
}

async function connectEtcd({ pkiDir, port }: EtcdAccess): Promise<Etcd> {
  const pem = (name: string) => readFile(join(pkiDir, name));
  const client = new Client(
    `127.0.0.1:${port}`,
    credentials.createSsl(
      await pem("etcd-ca.crt"),
      await pem("etcd-client.key"),
      await pem("etcd-client.crt"),
    ),
    {
      "grpc.ssl_target_name_override": "localhost",
      "grpc.max_receive_message_length": -1,
      "grpc.enable_http_proxy": 0,
    },
  );
  const file = fileURLToPath(new URL("./etcd.proto", import.meta.url));
  const service = loadSync(file, { longs: String })["etcdserverpb.KV"] as ServiceDefinition;

  function method<Request extends object, Response extends object>(name: string) {
    const definition = service[name] as MethodDefinition<object, object>;
    const { path, requestSerialize, responseDeserialize } = definition;
    return (request: Request): Promise<Response> =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          (error, response) => {
            if (error !== null || response === undefined)
              reject(error ?? new Error(`etcd answered ${path} with nothing`));
            else resolve(response as Response);
          },
        );
      });
  }

  return { range: method("Range"), txn: method("Txn"), close: () => client.close() };
}

export async function takeEtcdSnapshot(access: EtcdAccess): Promise<EtcdSnapshot> {
  const etcd = await connectEtcd(access);

  async function range(options: { readonly keysOnly?: boolean } = {}) {
    const kvs = new Map<string, KeyValue>();
    for (const kv of (await etcd.range({ ...registry, ...options })).kvs) {
      const name = kv.key.toString();
      if (!livePrefixes.some((prefix) => name.startsWith(prefix))) kvs.set(name, kv);
    }
    return kvs;
  }

  const snapshot = await range();
  /** The revision at which each key has the value of the snapshot. */
  const revisions = new Map([...snapshot].map(([name, { modRevision }]) => [name, modRevision]));

  return {
    async restore() {
      const current = await range({ keysOnly: true });
      const operations: Operation[] = [
        ...[...current]
          .filter(([name]) => !snapshot.has(name))
          .map(([, { key }]) => ({ requestDeleteRange: { key } })),
        ...[...snapshot]
          .filter(([name]) => current.get(name)?.modRevision !== revisions.get(name))
          .map(([, { key, value }]) => ({ requestPut: { key, value } })),
      ];
      for (let at = 0; at < operations.length; at += operationsAtOnce) {
        const success = operations.slice(at, at + operationsAtOnce);
        const { header } = await etcd.txn({ success });
        for (const operation of success)
          if ("requestPut" in operation)
            revisions.set(operation.requestPut.key.toString(), header.revision);
      }
    },
    close: () => etcd.close(),
  };
}

/**
 * Stores an object past all rules of the API server, which serves it as if it had accepted it: what an earlier version has accepted is
 * still served. `path`: as `configmaps/NAMESPACE/NAME`.
 */
export async function storeInEtcd(access: EtcdAccess, path: string, object: object): Promise<void> {
  const etcd = await connectEtcd(access);
  try {
    const key = Buffer.from(`/registry/${path}`);
    const value = Buffer.from(JSON.stringify(object));
    await etcd.txn({ success: [{ requestPut: { key, value } }] });
  } finally {
    etcd.close();
  }
}
