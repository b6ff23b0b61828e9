/**
 * Further certificate authorities in a file, as the variable NODE_EXTRA_CA_CERTS names it. Node reads it once, when it starts; in a pod it
 * comes from a Secret or a ConfigMap, which changes while the process runs.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { messageOf } from "../../../runtime/errors/index.ts";
import type { Log } from "../../../runtime/log/index.ts";
import { type Clock, delay } from "../../../runtime/time/index.ts";

export interface ExtraAuthoritiesDeps {
  /** Undefined: there is none, and nothing is done. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The kubelet takes as long to write a changed Secret into a pod. */
const checkEveryMs = 60_000;

/**
 * Reads the file again until `signal` aborts, and has new connections trust what it has then; those that are open stay. A file that
 * cannot be read, or has no valid certificates, leaves the last ones in use. Never rejects.
 */
export async function followExtraAuthorities(
  { file, clock, log }: ExtraAuthoritiesDeps,
  signal: AbortSignal,
): Promise<void> {
  if (file === undefined) return;
  let used = normalized(getCACertificates("extra"));
  let others: readonly string[] | undefined;
  let lastFailure = "";
  while (!signal.aborted) {
    try {
      const found = certificatesIn(await readFile(file, "utf8"));
      if (found.join() !== used.join()) {
        others ??= withoutExtra();
        setDefaultCACertificates([...others, ...found]);
        used = found;
        log.info({ file, certificates: found.length }, "trusting other certificate authorities");
      }
      lastFailure = "";
    } catch (thrown) {
      const err = messageOf(thrown);
      if (err !== lastFailure)
        log.warn({ file, err }, "cannot read certificate authorities; the last ones stay in use");
      lastFailure = err;
    }
    await delay(clock, checkEveryMs, signal);
  }
}

const certificate = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

function certificatesIn(text: string): readonly string[] {
  const found = normalized(text.match(certificate) ?? []);
  if (found.length === 0) throw new Error("it has no certificate in PEM form");
  return found;
}

/** Throws where one is invalid. */
function normalized(pems: readonly string[]): readonly string[] {
  return pems.map((pem) => new X509Certificate(pem).toString());
}

/** What is trusted without the file, as it was at the start of the process. */
function withoutExtra(): readonly string[] {
  const extra = new Set(normalized(getCACertificates("extra")));
  const bundled = new Set(normalized(getCACertificates("bundled")));
  return normalized(getCACertificates("default")).filter(
    (pem) => !extra.has(pem) || bundled.has(pem),
  );
}
