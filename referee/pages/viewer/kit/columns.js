// Long lists of numbers.

/** A list of numbers that grows. */
export class Column {
  /**
   * @param {Int32ArrayConstructor | Float32ArrayConstructor | Float64ArrayConstructor} Kind
   */
  constructor(Kind) {
    this.Kind = Kind;
    this.length = 0;
    this.data = new Kind(1024);
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this.data.length) {
      const larger = new this.Kind(2 * this.length);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
}

/**
 * The index of the last number below a bound in an ascending list; -1 if there is none.
 * @param {ArrayLike<number>} list
 * @param {number} bound
 */
export function lastBefore(list, bound) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
