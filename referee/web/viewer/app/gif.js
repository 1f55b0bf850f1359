// A moving picture in the form GIF: one palette for all pictures, of each picture only what has changed. Source: the GIF89a specification.

/** The number of colours, the last of which stands for "as before". */
const COLORS = 256;
const SAME = COLORS - 1;
const CODE_BITS = 8;
const MOST_CODES = 4096;

/** The bucket of a colour: five bits of each part. @param {number} red @param {number} green @param {number} blue */
function bucketOf(red, green, blue) {
  return ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
}

/** The colours of a moving picture, chosen from some of its pictures, and each colour's nearest one of them. */
export class Colors {
  /** @param {Uint8ClampedArray[]} pictures red, green, blue and alpha of each pixel */
  constructor(pictures) {
    const counts = new Float64Array(1 << 15);
    const sums = new Float64Array(3 << 15);
    for (const data of pictures) {
      for (let at = 0; at < data.length; at += 4) {
        const bucket = bucketOf(data[at], data[at + 1], data[at + 2]);
        counts[bucket] += 1;
        for (let part = 0; part < 3; part += 1) sums[3 * bucket + part] += data[at + part];
      }
    }
    const used = [];
    for (let bucket = 0; bucket < counts.length; bucket += 1) if (counts[bucket]) used.push(bucket);
    used.sort((one, other) => counts[other] - counts[one]);
    this.count = Math.min(SAME, used.length);
    this.table = new Uint8Array(3 * COLORS);
    used.slice(0, this.count).forEach((bucket, index) => {
      for (let part = 0; part < 3; part += 1) this.table[3 * index + part] = Math.round(sums[3 * bucket + part] / counts[bucket]);
    });
    /** The nearest colour of each bucket; -1 if it isn't known yet. */
    this.nearest = new Int16Array(1 << 15).fill(-1);
    used.slice(0, this.count).forEach((bucket, index) => {
      this.nearest[bucket] = index;
    });
  }

  /** @param {number} red @param {number} green @param {number} blue */
  indexOf(red, green, blue) {
    const bucket = bucketOf(red, green, blue);
    const known = this.nearest[bucket];
    if (known >= 0) return known;
    let [found, least] = [0, Infinity];
    for (let index = 0; index < this.count; index += 1) {
      const far = (red - this.table[3 * index]) ** 2 + (green - this.table[3 * index + 1]) ** 2 + (blue - this.table[3 * index + 2]) ** 2;
      if (far < least) [found, least] = [index, far];
    }
    this.nearest[bucket] = found;
    return found;
  }

  /** The indices of a picture's colours. @param {Uint8ClampedArray} data */
  indices(data) {
    const found = new Uint8Array(data.length / 4);
    for (let at = 0; at < found.length; at += 1) found[at] = this.indexOf(data[4 * at], data[4 * at + 1], data[4 * at + 2]);
    return found;
  }
}

export class Gif {
  /** @param {number} width @param {number} height @param {Colors} colors */
  constructor(width, height, colors) {
    this.width = width;
    this.height = height;
    this.colors = colors;
    /** @type {Uint8Array | null} */
    this.before = null;
    /** @type {Uint8Array<ArrayBuffer>[]} */
    this.parts = [];
    const screen = [...word(width), ...word(height), 0xf7, 0, 0];
    // The extension of Netscape makes it repeat for ever.
    const loop = [0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0];
    this.parts.push(Uint8Array.from([...ascii("GIF89a"), ...screen]), Uint8Array.from(colors.table), Uint8Array.from(loop));
  }

  /** Append a picture. @param {Uint8ClampedArray} data @param {number} centiseconds how long it is shown */
  add(data, centiseconds) {
    const now = this.colors.indices(data);
    const { before, width } = this;
    const box = before ? changed(before, now, width) : { left: 0, top: 0, wide: width, high: this.height };
    const pixels = new Uint8Array(box.wide * box.high);
    for (let row = 0; row < box.high; row += 1) {
      for (let column = 0; column < box.wide; column += 1) {
        const at = (box.top + row) * width + box.left + column;
        pixels[row * box.wide + column] = before && before[at] === now[at] ? SAME : now[at];
      }
    }
    // Disposal 1: what was drawn stays.
    const control = [0x21, 0xf9, 4, (1 << 2) | 1, ...word(Math.max(2, Math.min(65_535, Math.round(centiseconds)))), SAME, 0];
    const place = [0x2c, ...word(box.left), ...word(box.top), ...word(box.wide), ...word(box.high), 0];
    this.parts.push(Uint8Array.from([...control, ...place, CODE_BITS]), blocks(packed(pixels)));
    this.before = now;
  }

  finish() {
    return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}

/** The part in which two pictures differ; one pixel if they don't. @param {Uint8Array} before @param {Uint8Array} now @param {number} width */
function changed(before, now, width) {
  let [left, right, top, bottom] = [width, -1, -1, -1];
  for (let at = 0; at < now.length; at += 1) {
    if (before[at] === now[at]) continue;
    const column = at % width;
    if (top < 0) top = Math.floor(at / width);
    bottom = Math.floor(at / width);
    if (column < left) left = column;
    if (column > right) right = column;
  }
  return right < 0 ? { left: 0, top: 0, wide: 1, high: 1 } : { left, top, wide: right - left + 1, high: bottom - top + 1 };
}

/** Pixels as codes of a growing length (LZW, Appendix F of the specification). @param {Uint8Array} pixels */
export function packed(pixels) {
  const [clear, end] = [1 << CODE_BITS, (1 << CODE_BITS) + 1];
  /** The code that follows a code with a pixel. */
  const following = new Int16Array(MOST_CODES << CODE_BITS);
  const found = new Uint8Array(Math.ceil(pixels.length * 1.6) + 16);
  let [length, buffer, bits] = [0, 0, 0];
  let [next, size] = [end + 1, CODE_BITS + 1];
  const put = (/** @type {number} */ code) => {
    buffer |= code << bits;
    bits += size;
    while (bits >= 8) {
      found[length++] = buffer & 255;
      buffer >>>= 8;
      bits -= 8;
    }
  };
  put(clear);
  let code = pixels[0];
  for (let at = 1; at < pixels.length; at += 1) {
    const key = (code << CODE_BITS) | pixels[at];
    if (following[key]) {
      code = following[key];
      continue;
    }
    put(code);
    if (next < MOST_CODES) {
      if (next === 1 << size) size += 1;
      following[key] = next++;
    } else {
      put(clear);
      following.fill(0);
      [next, size] = [end + 1, CODE_BITS + 1];
    }
    code = pixels[at];
  }
  put(code);
  if (next === 1 << size && size < 12) size += 1;
  put(end);
  if (bits) found[length++] = buffer & 255;
  return found.subarray(0, length);
}

/** Data in blocks of at most 255 bytes, with an empty one at the end. @param {Uint8Array} data */
function blocks(data) {
  const found = new Uint8Array(data.length + Math.ceil(data.length / 255) + 1);
  let to = 0;
  for (let from = 0; from < data.length; from += 255) {
    const part = data.subarray(from, from + 255);
    found[to] = part.length;
    found.set(part, to + 1);
    to += part.length + 1;
  }
  return found;
}

/** @param {number} value */
function word(value) {
  return [value & 255, value >> 8];
}

/** @param {string} text */
function ascii(text) {
  return [...text].map((sign) => sign.charCodeAt(0));
}
