// Original file: proto/fleet.proto


export interface AnswerChunk {
  'requestId'?: (string);
  'data'?: (Buffer | Uint8Array | string);
  'last'?: (boolean);
  'code'?: (string);
  'message'?: (string);
}

export interface AnswerChunk__Output {
  'requestId': (string);
  'data': (Buffer);
  'last': (boolean);
  'code': (string);
  'message': (string);
}
