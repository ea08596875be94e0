/** A chunked body: `more` is to come, it is `whole`, or it is `broken`. */
export type ChunkState = 'more' | 'whole' | 'broken';

export type ChunkReader = (bytes: Buffer) => ChunkState;

const SIZE_LINE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r\n$/i;
const LINE_FEED = 0x0a;

/** Reads the chunked coding (RFC 9112, 7.1) and passes on its data. Trailers are dropped. */
export function createChunkReader(onData: (data: Buffer) => void): ChunkReader {
  let expected: 'size' | 'end of chunk' | 'trailer' = 'size';
  let dataLeft = 0;
  let partOfLine = '';

  const readLine = (line: string): ChunkState => {
    if (expected === 'trailer') return line === '\r\n' ? 'whole' : 'more';
    if (expected === 'end of chunk') {
      expected = 'size';
      return line === '\r\n' ? 'more' : 'broken';
    }
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) return 'broken';
    dataLeft = Number.parseInt(size, 16);
    expected = dataLeft === 0 ? 'trailer' : 'end of chunk';
    return 'more';
  };

  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (dataLeft > 0) {
        const data = bytes.subarray(at, at + dataLeft);
        onData(data);
        dataLeft -= data.length;
        at += data.length;
        continue;
      }
      const lineEnd = bytes.indexOf(LINE_FEED, at) + 1;
      partOfLine += bytes.toString('latin1', at, lineEnd === 0 ? bytes.length : lineEnd);
      if (lineEnd === 0) return 'more';
      at = lineEnd;
      const state = readLine(partOfLine);
      partOfLine = '';
      // Bytes after the last chunk belong to no request.
      if (state === 'whole') return at === bytes.length ? 'whole' : 'broken';
      if (state === 'broken') return 'broken';
    }
    return 'more';
  };
}
