/** The OpenAPI document of the dashboard's API, from the schemas of its requests. Pure. */
import * as z from "zod";
import { csrfHeader } from "./csrf.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { problemSchema } from "./session.ts";

type Json = Readonly<Record<string, unknown>>;

/** `version`: of the hub. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, endpoint] of Object.entries(endpoints) as [string, Endpoint][]) {
    const operations = paths[endpoint.path] ?? {};
    operations[endpoint.method.toLowerCase()] = operationOf(name, endpoint);
    paths[endpoint.path] = operations;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Flotilla dashboard",
      version,
      description:
        "What the dashboard of the hub shows. Each request needs the cookies of a session, except where it says otherwise; one that changes something also needs the CSRF token of the session.",
    },
    paths,
  };
}

function operationOf(name: string, endpoint: Endpoint): Json {
  const { path, method, summary, query = {}, body, response, stream } = endpoint;
  const { isPublic = false, isRedirect = false } = endpoint;
  const schema = { type: "string" };
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => ({
      name: parameter,
      in: "path",
      required: true,
      schema,
    })),
    ...Object.entries(query).map(([parameter, description]) => ({
      name: parameter,
      in: "query",
      description,
      schema,
    })),
  ];
  const csrf = { name: csrfHeader, in: "header", required: true, schema };
  return {
    operationId: name,
    summary,
    ...(isPublic && { security: [] }),
    parameters: method === "GET" ? parameters : [...parameters, csrf],
    ...(body !== undefined && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [isRedirect ? "303" : response === undefined && method !== "GET" ? "204" : "200"]: {
        description: summary,
        ...(response !== undefined && { content: json(response) }),
        ...(stream !== undefined && {
          content: { [stream.type]: { schema: jsonSchema(stream.part) } },
        }),
      },
      default: { description: "An error.", content: json(problemSchema) },
    },
  };
}

function json(schema: z.ZodType): Json {
  return { "application/json": { schema: jsonSchema(schema) } };
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...body } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return body;
}
