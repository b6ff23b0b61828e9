/** What an address means, in words that ours and helmfile's parser have in common. */
import { AppError } from "../../../runtime/errors/index.ts";
import type { HelmfileAddress } from "../address.ts";
import { withCredentials } from "../format-address.ts";
import { parseHelmfileAddress } from "../parse-address.ts";

/** What helmfile's parser makes of an address: fields of its type `Source` that are not empty. */
export type HelmfileSource =
  | { readonly refused: true }
  | {
      readonly refused?: undefined;
      /** `normal`: none was written before `::`. */
      readonly getter?: string;
      readonly scheme?: string;
      readonly user?: string;
      readonly host?: string;
      readonly dir?: string;
      readonly file?: string;
      readonly query?: string;
    };

/** `refused`, or where the tree is, the path in it (one file is a path in nothing), and the parameters. */
type Meaning = string;

interface Sides {
  readonly getter: string;
  /** With scheme, user and host. */
  readonly base: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** Ours. */
export function meaningOf(text: string): Meaning {
  try {
    return written(sidesOf(parseHelmfileAddress(text).address, text));
  } catch (thrown) {
    if (thrown instanceof AppError) return "refused";
    throw thrown;
  }
}

/** Helmfile's. */
export function meaningToHelmfile(source: HelmfileSource): Meaning {
  if (source.refused === true) return "refused";
  const { getter = "", scheme = "", user = "", host = "", dir = "", file = "" } = source;
  const server = `${scheme}://${user === "" ? "" : `${user}@`}${host}`;
  const parameters = Object.fromEntries(new URLSearchParams(source.query));
  // It fetches nothing again, so nothing differs by it here.
  delete parameters["cache"];
  if (getter === "normal")
    return written({ getter: "", base: `${server}/${dir}/${file}`, path: "", parameters });
  const at = dir.indexOf("//");
  return written({
    getter,
    base: `${server}${at < 0 ? dir : dir.slice(0, at)}`,
    path: `${at < 0 ? "" : dir.slice(at)}/${file}`,
    parameters,
  });
}

function sidesOf(address: HelmfileAddress, text: string): Sides {
  switch (address.kind) {
    case "git": {
      const { url, ref, depth, identityPem, path, credentials } = address;
      const sshkey = identityPem && Buffer.from(identityPem).toString("base64");
      const parameters = { ref, depth: depth?.toString(), sshkey };
      return { getter: "git", base: withCredentials(url, credentials), path, parameters };
    }
    case "file": {
      const [base = "", search] = withCredentials(address.url, address.credentials).split("?");
      const archive = new URLSearchParams(text.split("?")[1]).get("archive") ?? undefined;
      const sent = Object.fromEntries(new URLSearchParams(search));
      return {
        getter: "",
        base,
        path: "",
        parameters: { ...sent, checksum: address.digest, archive },
      };
    }
    case "archive":
      return { getter: "archive", base: address.url, path: address.path, parameters: {} };
    case "bucket": {
      const { endpoint, bucketName, insecure, region, prefix, format, path } = address;
      if (text.startsWith("s3://")) {
        const base = `s3://${bucketName}/${prefix}${path}`;
        return { getter: format ?? "", base, path: "", parameters: { region } };
      }
      const isInHost = text.includes(`//${bucketName}.`);
      const server = isInHost ? `${bucketName}.${endpoint}/` : `${endpoint}/${bucketName}/`;
      const base = `${insecure === true ? "http" : "https"}://${server}${prefix}`;
      return { getter: text.startsWith("gcs") ? "gcs" : "s3", base, path, parameters: { region } };
    }
    case "oci":
      return { getter: "oci", base: address.repository, path: address.path, parameters: {} };
  }
}

/** Equal for what the URL standard takes for equal, and without what differs in no file that is read. */
function written({ getter, base, path, parameters }: Sides): Meaning {
  const url = URL.parse(base);
  const user = [url?.username ?? "", url?.password ?? ""].map(decodeURIComponent).join(":");
  const names = decodeURIComponent(url?.pathname ?? base)
    .split("/")
    .filter(Boolean);
  const inTree = path.split("/").filter((name) => name !== "" && name !== ".");
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return JSON.stringify({
    getter,
    server: `${url?.protocol}//${user}@${url?.host}`,
    base: names.join("/"),
    path: inTree.join("/"),
    parameters: given.sort(([a], [b]) => (a < b ? -1 : 1)),
  });
}
