/**
 * Distinguishes the pins that the hub resolved from those that a user wrote into a HelmOp's Bundle. A pin has an
 * address, so a user who could write one could deploy a chart from an address that a Policy forbids (docs/adr/0014).
 */
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import type { Bundle, ChartPin } from "@flotilla/shared/api";
import { canonicalJson } from "@flotilla/shared/json";

export interface PinSigner {
  /** The HMAC of any data of the hub. */
  sign(data: unknown): string;
  isSigned(data: unknown, signature: string): boolean;
  /** The same Bundle with the HMAC of its pins. */
  signed(bundle: Bundle): Bundle;
  /** The pins of a Bundle; undefined unless they and its origin have a valid HMAC for it. */
  pinsOf(bundle: Bundle): readonly ChartPin[] | undefined;
}

export function createPinSigner(key: Uint8Array): PinSigner {
  // Made once: from the bytes it costs as much as the signature.
  const secret = createSecretKey(key);

  /**
   * For one Bundle alone: pins that were signed in one namespace are invalid in another. With an origin the whole spec is signed:
   * with other values or targets nobody else may use what the origin allows.
   */
  function signatureOf({ metadata, spec }: Bundle): Buffer {
    const { namespace, name } = metadata;
    const { pinSignature: _, ...options } = spec.helmOpOptions ?? {};
    const signed = [namespace, name, options.pins ?? []];
    if (options.origin === undefined) return macOf(signed);
    return macOf([...signed, { ...spec, helmOpOptions: options }]);
  }

  function macOf(data: unknown): Buffer {
    return createHmac("sha256", secret).update(canonicalJson(data)).digest();
  }

  return {
    sign: (data) => macOf(data).toString("base64"),
    isSigned(data, signature) {
      const [expected, given] = [macOf(data), Buffer.from(signature, "base64")];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    signed(bundle) {
      const { pins = [] } = bundle.spec.helmOpOptions ?? {};
      const options = { ...bundle.spec.helmOpOptions, pins };
      const unsigned = { ...bundle, spec: { ...bundle.spec, helmOpOptions: options } };
      const pinSignature = signatureOf(unsigned).toString("base64");
      const helmOpOptions = { ...options, pinSignature };
      return { ...bundle, spec: { ...bundle.spec, helmOpOptions } };
    },
    pinsOf(bundle) {
      const { pins = [], pinSignature = "" } = bundle.spec.helmOpOptions ?? {};
      const expected = signatureOf(bundle);
      const given = Buffer.from(pinSignature, "base64");
      return given.length === expected.length && timingSafeEqual(given, expected)
        ? pins
        : undefined;
    },
  };
}
