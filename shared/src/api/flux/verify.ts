/** Verification of the signature of a chart in a registry. */
import * as z from "zod";
import { described, fields } from "../fleet/index.ts";
import { localReference } from "./field.ts";

const provider = described(
  z.enum(["cosign", "notation"]).default("cosign"),
  "The tool that signed it. Only `cosign` is supported.",
);

const identitySchema = fields(
  {
    issuer: described(z.string(), "A regular expression for the issuer in the certificate."),
    subject: described(z.string(), "A regular expression for the subject in the certificate."),
  },
  "OIDCIdentityMatch",
);

const matchOIDCIdentity = described(
  z.array(identitySchema).optional(),
  "Identities of a signature without keys, of which one must match. Not supported.",
);

const secretRef = localReference(
  "A Secret with the trusted public keys, in keys that end in `.pub`.",
);

const text = "The signature that the chart must have in its registry.";

/** In the template of a HelmChart in a HelmRelease. */
export const templateVerification = described(fields({ provider, secretRef }).optional(), text);

/** In a HelmChart. */
export const chartVerification = described(
  fields({ provider, secretRef, matchOIDCIdentity }).optional(),
  text,
);

/** In an OCIRepository. */
export const repositoryVerification = described(
  fields({
    provider,
    secretRef,
    trustedRootSecretRef: localReference(
      "A Secret with `trusted_root.json`, for signatures without keys. Not supported.",
    ),
    matchOIDCIdentity,
  }).optional(),
  text,
);
