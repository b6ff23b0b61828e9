export { type Access, callerOf, createAccess } from "./cached-access.ts";
export { type Attributes, type Reviewer, reviewAccess, reviewToken, type User } from "./reviews.ts";
export { createScopes, type Scope, type ScopeOf, type ViewedKind } from "./scope.ts";
