export { type Access, createAccess, keyOfUser } from "./cached-access.ts";
export { type Attributes, type Reviewer, reviewAccess, reviewToken, type User } from "./reviews.ts";
export { createScopes, type Scope, type ScopeOf, type ViewedKind } from "./scope.ts";
