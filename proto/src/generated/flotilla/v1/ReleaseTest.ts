// Original file: proto/fleet.proto


export interface ReleaseTest {
  'name'?: (string);
  'phase'?: (string);
}

export interface ReleaseTest__Output {
  'name': (string);
  'phase': (string);
}
