/**
 * An HMAC over the pins in a HelmOp's Bundle, so that pins that somebody else wrote are not deployed: a pin names an address,
 * which a Policy may forbid (docs/adr/0014).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Bundle, ChartPin } from "@flotilla/shared/api/bundle.ts";
import { canonicalJson } from "@flotilla/shared/json/exact.ts";
import type { ObjectMeta } from "@flotilla/shared/kube/objects/object.ts";

export interface PinSigner {
  /** The Bundle with a signature of its pins. */
  signed(bundle: Bundle): Bundle;
  /** The pins of a Bundle; undefined unless their signature is valid. */
  pinsOf(bundle: Bundle): readonly ChartPin[] | undefined;
}

export function createPinSigner(key: Uint8Array): PinSigner {
  /** Of one Bundle: a signature is not valid for a Bundle of another name or namespace. */
  function signatureOf({ namespace, name }: ObjectMeta, pins: readonly ChartPin[]): Buffer {
    return createHmac("sha256", key)
      .update(canonicalJson([namespace, name, pins]))
      .digest();
  }

  return {
    signed(bundle) {
      const { pins = [] } = bundle.spec.helmOpOptions ?? {};
      const pinSeal = signatureOf(bundle.metadata, pins).toString("base64");
      const helmOpOptions = { ...bundle.spec.helmOpOptions, pins, pinSeal };
      return { ...bundle, spec: { ...bundle.spec, helmOpOptions } };
    },
    pinsOf({ metadata, spec }) {
      const { pins = [], pinSeal = "" } = spec.helmOpOptions ?? {};
      const expected = signatureOf(metadata, pins);
      const given = Buffer.from(pinSeal, "base64");
      return given.length === expected.length && timingSafeEqual(given, expected)
        ? pins
        : undefined;
    },
  };
}
