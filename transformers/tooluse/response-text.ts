import { responseMember } from './exit-tool.ts';
import { JsonStringText } from './json-string-text.ts';
import { MemberFinder } from './member-finder.ts';
import { otherResponse } from './other-response.ts';

/** Reads the answer out of the exit tool's arguments, `{"response":"…"}`, as they arrive. */
export class ResponseText {
  readonly #finder = new MemberFinder(responseMember);
  readonly #text = new JsonStringText();
  /** All that came before the answer began. */
  readonly #held: string[] = [];
  #begun = false;

  /** The text that this piece of the arguments brings. */
  push(json: string): string {
    if (this.#begun) return this.#text.push(json);
    const from = this.#finder.find(json);
    if (from < 0) {
      this.#held.push(json);
      return '';
    }
    this.#begun = true;
    return this.#text.push(json.slice(from));
  }

  /** The text still owed once the arguments have ended, or were cut off. */
  end(): string {
    return this.#begun ? '' : otherResponse(this.#held.join(''));
  }
}
