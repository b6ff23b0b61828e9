// Original file: proto/fleet.proto


export interface Synced {
  'orphans'?: (string)[];
}

export interface Synced__Output {
  'orphans': (string)[];
}
