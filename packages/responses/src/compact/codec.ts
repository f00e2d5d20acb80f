/** How the text of a result was written, so that `fit` can cut the data rather than the text. */

/** A notation: `decode(encode(value))` is the same data. */
export interface TextCodec {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

// Beside the result, not in it: nothing of this is sent, and a copy of the result does not claim what it cannot know.
const codecs = new WeakMap<object, TextCodec>();

export function rememberCodec(result: object, codec: TextCodec): void {
  codecs.set(result, codec);
}

export function codecOf(result: object): TextCodec | undefined {
  return codecs.get(result);
}
