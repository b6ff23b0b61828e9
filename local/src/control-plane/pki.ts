/**
 * The keys and certificates of one local cluster: its authority, the certificate of the API server, a client certificate for each
 * component, and the key that signs service account tokens. Created once and stored beside the data, so that clients of a
 * restarted cluster keep working.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  generateSigningKeys,
  issueAuthority,
  issueCertificate,
  type KeyPair,
} from "./certificates.ts";

/** The clients of the API server, each with its own certificate. */
export const clientNames = ["admin", "controller-manager", "scheduler", "kwok"] as const;
export type ClientName = (typeof clientNames)[number];

export interface ClusterPki {
  /** Folder with the files that the servers read. */
  readonly dir: string;
  readonly ca: string;
  readonly clients: Readonly<Record<ClientName, KeyPair>>;
}

// system:masters bypasses RBAC: components of a local cluster are admins.
const subjects: Readonly<Record<ClientName, string>> = {
  admin: "CN=flotilla-admin,O=system:masters",
  "controller-manager": "CN=system:kube-controller-manager,O=system:masters",
  scheduler: "CN=system:kube-scheduler,O=system:masters",
  kwok: "CN=kwok,O=system:masters",
};

/** The PKI in `dir`, created when missing. */
export async function ensurePki(dir: string, clusterName: string): Promise<ClusterPki> {
  const stored = await readPki(dir);
  if (stored !== undefined) return stored;
  const files = await issueAll(clusterName);
  await writeAll(dir, files);
  return pkiFrom(dir, (name) => Promise.resolve(files[name] ?? ""));
}

/** The certificate of a TLS server on this machine and of its own authority, in `dir`; created when missing. */
export async function ensureServerCertificate(
  dir: string,
  name: string,
): Promise<{
  readonly ca: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}> {
  const paths = {
    caFile: join(dir, "ca.crt"),
    certFile: join(dir, "server.crt"),
    keyFile: join(dir, "server.key"),
  };
  const stored = await readFile(paths.caFile, "utf8").catch(() => undefined);
  if (stored !== undefined) return { ca: stored, ...paths };
  const authority = await issueAuthority(`${name}-ca`);
  const server = await issueCertificate(authority, { subject: `CN=${name}`, use: "server" });
  const ca = authority.cert;
  await writeAll(dir, { "ca.crt": ca, "server.crt": server.cert, "server.key": server.key });
  return { ca, ...paths };
}

async function readPki(dir: string): Promise<ClusterPki | undefined> {
  try {
    return await pkiFrom(dir, (name) => readFile(join(dir, name), "utf8"));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

async function pkiFrom(dir: string, read: (name: string) => Promise<string>): Promise<ClusterPki> {
  const pair = async (name: ClientName): Promise<KeyPair> => ({
    cert: await read(`${name}.crt`),
    key: await read(`${name}.key`),
  });
  return {
    dir,
    ca: await read("ca.crt"),
    clients: {
      admin: await pair("admin"),
      "controller-manager": await pair("controller-manager"),
      scheduler: await pair("scheduler"),
      kwok: await pair("kwok"),
    },
  };
}

/** Writes all files or none, so that an interruption leaves no incomplete PKI. */
async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  const temporary = `${dir}.new`;
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await Promise.all(
    Object.entries(files).map(([name, text]) =>
      writeFile(join(temporary, name), text, { mode: 0o600 }),
    ),
  );
  await rename(temporary, dir);
}

async function issueAll(clusterName: string): Promise<Record<string, string>> {
  const ca = await issueAuthority(`${clusterName}-ca`);
  const server = await issueCertificate(ca, { subject: "CN=kube-apiserver", use: "server" });
  const serviceAccounts = await generateSigningKeys();
  // etcd has its own authority, so that a client certificate for the API does not give access to etcd.
  const etcdCa = await issueAuthority(`${clusterName}-etcd-ca`);
  const etcd = await issueCertificate(etcdCa, { subject: "CN=etcd", use: "server" });
  const etcdClient = await issueCertificate(etcdCa, {
    subject: "CN=kube-apiserver",
    use: "client",
  });
  const files: Record<string, string> = {
    "etcd-ca.crt": etcdCa.cert,
    "etcd.crt": etcd.cert,
    "etcd.key": etcd.key,
    "etcd-client.crt": etcdClient.cert,
    "etcd-client.key": etcdClient.key,
    "ca.crt": ca.cert,
    "ca.key": ca.key,
    "apiserver.crt": server.cert,
    "apiserver.key": server.key,
    "service-accounts.key": serviceAccounts.privateKey,
    "service-accounts.pub": serviceAccounts.publicKey,
  };
  for (const name of clientNames) {
    const client = await issueCertificate(ca, { subject: subjects[name], use: "client" });
    files[`${name}.crt`] = client.cert;
    files[`${name}.key`] = client.key;
  }
  return files;
}
