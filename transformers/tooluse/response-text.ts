import { responseMember } from './exit-tool.ts';
import { jsonStringText } from './json-string-text.ts';
import { MemberFinder } from './member-finder.ts';
import { otherResponse } from './other-response.ts';

/** Reads the reply from the exit tool's arguments, `{"response":"…"}`, as they arrive. */
export class ResponseText {
  readonly #finder = new MemberFinder(responseMember);
  readonly #text = jsonStringText();
  /** All input before the reply's text. */
  readonly #buffered: string[] = [];
  #begun = false;

  /** Returns the text of this piece of the arguments. */
  push(json: string): string {
    if (this.#begun) return this.#text.push(json);
    const from = this.#finder.find(json);
    if (from < 0) {
      this.#buffered.push(json);
      return '';
    }
    this.#begun = true;
    return this.#text.push(json.slice(from));
  }

  /** Returns the remaining text when the arguments end or are cut off. */
  end(): string {
    return this.#begun ? '' : otherResponse(this.#buffered.join(''));
  }
}
