/** CSRF: a request that changes something needs a header, which other sites cannot set. */

/** The header with the CSRF token of the session, in every POST and DELETE. */
export const csrfHeader = "flotilla-csrf";
/** In place of the token of a session, which a login does not have yet. */
export const loginCsrfToken = "login";
