/** The body of a request for the plan of a change that is not written. Pure. */
import { messageOf } from "@flotilla/shared/errors";
import { parseBounded, parseExact } from "@flotilla/shared/json";
import { isMap } from "@flotilla/shared/values";
import type { ProposedChange } from "../../rollout/index.ts";
import { invalid } from "../requests/parse-request.ts";

/** As much as an API server takes of an object. */
export const maxProposalBytes = 1024 * 1024;

const maxVersionChars = 256;
/** Values of charts have some ten levels. */
const maxDepth = 200;

/** `text`: a JSON object with `version`, `values` or `set`. Throws REQUEST_INVALID, without any of the text. */
export function parseProposal(text: string): ProposedChange {
  const body = parsed(text);
  if (!isMap(body)) throw invalid("the body is not a JSON object with version, values or set");
  const { version, values, set, ...others } = body;
  if (Object.keys(others).length > 0)
    throw invalid("the body has other fields than version, values and set");
  if (version === undefined && values === undefined && set === undefined)
    throw invalid("the body has neither version nor values nor set");
  if (version !== undefined && (typeof version !== "string" || version === ""))
    throw invalid("version is not a text");
  if (version !== undefined && version.length > maxVersionChars)
    throw invalid(`version has more than ${maxVersionChars} characters`);
  if (values !== undefined && !isMap(values)) throw invalid("values is not an object");
  if (isDeeper(values, maxDepth))
    throw invalid(`values have more than ${maxDepth} levels below each other`);
  if (set !== undefined && !isLines(set)) throw invalid("set is not a list of texts");
  return {
    ...(set !== undefined && { set }),
    ...(version !== undefined && { version }),
    ...(values !== undefined && { values }),
  };
}

function parsed(text: string): unknown {
  try {
    parseBounded(text);
    return parseExact(text);
  } catch (thrown) {
    throw invalid(`the body cannot be read: ${messageOf(thrown)}`);
  }
}

function isLines(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
