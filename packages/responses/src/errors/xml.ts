/** Text and attribute values for the error envelope: any string in, well-formed XML 1.0 out. */

const REPLACEMENT = '\uFFFD';

// XML 1.0 (fifth edition), production [2] Char: everything else may not appear, not even as a reference. Under the `u`
// flag a surrogate escape matches only a surrogate that is not half of a pair.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/gu;

/**
 * Escapes `text` for element content: `&` and `<`, and the `>` of `]]>`. Any other `>` and all quotes stay, for the sake
 * of the model that reads them. Characters that XML 1.0 forbids become U+FFFD.
 */
export function escapeXml(text: string): string {
  return String(text)
    .replace(FORBIDDEN, REPLACEMENT)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/\]\]>/g, ']]&gt;');
}

/**
 * Escapes `text` for an attribute value in either kind of quotes: all five special characters, and tab and line ends as
 * references, which a parser would otherwise turn into spaces (XML 1.0, section 3.3.3).
 */
export function escapeXmlAttr(text: string): string {
  return String(text)
    .replace(FORBIDDEN, REPLACEMENT)
    .replace(/[&<>"'\t\n\r]/g, (char) => ATTRIBUTE_ESCAPES[char] ?? char);
}

const ATTRIBUTE_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};
