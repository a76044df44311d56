"""DER, read strictly (X.690 §8 to §11) into trees that are written again octet by octet."""

import datetime


class Fault(Exception):
    pass


class Element:
    """One tag with what stands in it: `parts` where it is constructed, else `octets`."""

    def __init__(self, tag, content):
        self.tag, self.octets = tag, content
        self.parts = read_all(content) if tag & 0x20 else None

    def __getitem__(self, place):
        return self.parts[place]

    def __len__(self):
        return len(self.parts)

    @property
    def encoded(self):
        content = self.octets if self.parts is None else b"".join(part.encoded for part in self.parts)
        count = len(content)
        length = bytes([count]) if count < 0x80 else long_length(count)
        return bytes([self.tag]) + length + content


def long_length(count):
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(octets)]) + octets


def read_all(data):
    parts = []
    while data:
        part, data = read_first(data)
        parts.append(part)
    return parts


def read_first(data):
    if len(data) < 2:
        raise Fault("it ends within an element")
    tag, count, at = data[0], data[1], 2
    if tag & 0x1F == 0x1F:
        raise Fault("a tag of several octets")
    if count >= 0x80:
        octets = count & 0x7F
        count, at = int.from_bytes(data[2:2 + octets], "big"), 2 + octets
        if not octets or count < 0x80 or data[2] == 0:
            raise Fault("a length that is not the shortest")
    if len(data) < at + count:
        raise Fault("it ends within an element")
    element = Element(tag, data[at:at + count])
    judge(element)
    return element, data[at + count:]


def judge(element):
    octets = element.octets
    if element.tag == 0x01 and octets != b"\xff":
        raise Fault("a BOOLEAN that is FALSE, which is its default wherever certificates have one, or not FF")
    if element.tag == 0x02 and (not octets or (len(octets) > 1 and octets[0] in (0, 0xFF) and (octets[0] ^ octets[1]) < 0x80)):
        raise Fault("an INTEGER that is not the shortest")
    if element.tag == 0x03 and (not octets or octets[0] > 7 or (octets[0] and octets[-1] & ((1 << octets[0]) - 1))):
        raise Fault("a BIT STRING with unused bits that are set")
    if element.tag == 0x31 and [p.encoded for p in element.parts] != sorted(p.encoded for p in element.parts):
        raise Fault("a SET that is not in order")


def read(data):
    element, rest = read_first(data)
    if rest:
        raise Fault("octets behind the end")
    return element


def identifier(element):
    """An OBJECT IDENTIFIER in dots."""
    octets, numbers, number = element.octets, [], 0
    for octet in octets:
        number = number << 7 | octet & 0x7F
        if octet < 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def integer(element):
    return int.from_bytes(element.octets, "big", signed=True)


def named_bits(element):
    """The numbers of the bits that are set; without zeros at the end, as DER has them (X.690 §11.2.2)."""
    unused, octets = element.octets[0], element.octets[1:]
    bits = [8 * place + bit for place, octet in enumerate(octets) for bit in range(8) if octet & 0x80 >> bit]
    if bits and 8 * len(octets) - 1 - unused != bits[-1]:
        raise Fault("named bits with a zero at the end")
    return bits


def moment(element):
    """RFC 5280 §4.1.2.5: UTCTime until 2049, GeneralizedTime from 2050 on, both with seconds and in Z, neither with fractions."""
    text = element.octets.decode("ascii")
    if element.tag == 0x17 and len(text) == 13:
        year = int(text[:2])
        text = f"{1900 + year if year >= 50 else 2000 + year}{text[2:]}"
    elif element.tag != 0x18 or len(text) != 15 or text < "2050":
        raise Fault(f"a time that is no UTCTime until 2049 and no GeneralizedTime from then on: {text}")
    if text[-1] != "Z":
        raise Fault("a time that is not in Z")
    return datetime.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
