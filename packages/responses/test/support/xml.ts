/** A strict XML 1.0 parser over the error envelope. */
import { SaxesParser } from 'saxes';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlElement[];
  text: string;
}

/** The document's element. Throws on anything that is not well-formed. */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: false });
  const root: XmlElement = { name: '#document', attributes: {}, children: [], text: '' };
  const open = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: XmlElement = { name, attributes: { ...attributes }, children: [], text: '' };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.on('text', (part) => {
    open.at(-1)!.text += part;
  });
  parser.write(text).close();
  return root.children[0]!;
}

/** The text of the only child called `name`; throws if there is not exactly one. */
export function childText(element: XmlElement, name: string): string {
  const found = element.children.filter((child) => child.name === name);
  if (found.length !== 1) throw new Error(`${found.length} <${name}> in <${element.name}>`);
  return found[0]!.text;
}
