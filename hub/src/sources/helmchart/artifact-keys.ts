/** The metadata of an artifact that more than one signature covers. */
export const pinKey = "flotilla.dev/pin";
export const dependenciesKey = "flotilla.dev/dependencies";
