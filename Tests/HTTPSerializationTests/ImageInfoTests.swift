import HTTPSerialization
import Testing

@Suite("Images by their headers (V10)")
struct ImageInfoTests {
    private static func big(_ number: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(number >> ($0 * 8) & 0xFF) }
    }
    private static func little(_ number: Int, _ length: Int) -> [UInt8] { big(number, length).reversed() }
    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func gif(_ width: Int, _ height: Int) -> [UInt8] {
        ascii("GIF89a") + little(width, 2) + little(height, 2) + [0, 0, 0]
    }
    private static func bmp(_ width: Int, _ height: Int) -> [UInt8] {
        ascii("BM") + Array(repeating: 0, count: 12) + little(40, 4) + little(width, 4) + little(height, 4)
    }
    private static func webp(_ width: Int, _ height: Int) -> [UInt8] {
        ascii("RIFF") + little(30, 4) + ascii("WEBPVP8X") + little(10, 4) + [0, 0, 0, 0] + little(width - 1, 3)
            + little(height - 1, 3)
    }
    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + ascii(type) + content }
    private static func avif(_ width: Int, _ height: Int, brand: String = "avif") -> [UInt8] {
        let other = box("ispe", big(0, 4) + big(1, 4) + big(1, 4))
        let size = box("ispe", big(0, 4) + big(width, 4) + big(height, 4))
        let properties = box("ipco", other + box("pixi", [0, 0, 0, 0, 1, 8]) + size)
        let associations = box("ipma", big(0, 4) + big(2, 4) + big(1, 2) + [1, 1] + big(2, 2) + [2, 2, 0x83])
        return box("ftyp", ascii(brand) + big(0, 4) + ascii("mif1"))
            + box("meta", big(0, 4) + box("pitm", big(0, 4) + big(2, 2)) + box("iprp", properties + associations))
    }
    private static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC4, 0, 2, 0xFF, 0xC2, 0, 11, 8] + big(480, 2) + big(640, 2) + [
            1, 1, 0x11, 0,
        ]
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0,
        0, 0x1F, 0x15, 0xC4, 0x89,
    ]
    private static func tiff(_ isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ length: Int) -> [UInt8] { isLittle ? little(value, length) : big(value, length) }
        let long = number(257, 2) + number(4, 2) + number(1, 4) + number(70_000, 4)
        let short = number(256, 2) + number(3, 2) + number(1, 4) + number(5, 2) + [0, 0]
        return (isLittle ? ascii("II") : ascii("MM")) + number(42, 2) + number(12, 4) + [9, 9, 9, 9] + number(2, 2) + short + long
    }
    private static func ico(_ sizes: [(UInt8, UInt8)]) -> [UInt8] {
        [0, 0, 1, 0] + little(sizes.count, 2) + sizes.flatMap { [$0.0, $0.1] + Array(repeating: 0, count: 14) as [UInt8] }
    }

    private static let images: [([UInt8], ImageInfo)] = [
        (png, ImageInfo(kind: .png, width: 1, height: 1)), (jpeg, ImageInfo(kind: .jpeg, width: 640, height: 480)),
        (gif(3, 500), ImageInfo(kind: .gif, width: 3, height: 500)), (bmp(7, 9), ImageInfo(kind: .bmp, width: 7, height: 9)),
        (bmp(7, -9), ImageInfo(kind: .bmp, width: 7, height: 9)),
        (ico([(16, 16), (0, 0), (48, 48)]), ImageInfo(kind: .ico, width: 256, height: 256)),
        (ascii("#define a_width 16\n#define a_height 8\nstatic char a_bits[]"), ImageInfo(kind: .xbm, width: 16, height: 8)),
        (webp(1, 16384), ImageInfo(kind: .webp, width: 1, height: 16384)),
        (avif(300, 200), ImageInfo(kind: .avif, width: 300, height: 200)),
        (
            ascii("RIFF") + little(30, 4) + ascii("WEBPVP8L") + little(10, 4) + [0x2F] + little(99 | 199 << 14, 4),
            ImageInfo(kind: .webp, width: 100, height: 200)
        ),
        (
            ascii("RIFF") + little(30, 4) + ascii("WEBPVP8 ") + little(10, 4) + [0x10, 0, 0, 0x9D, 0x01, 0x2A]
                + little(100 | 1 << 14, 2) + little(50, 2),
            ImageInfo(kind: .webp, width: 100, height: 50)
        ),
    ]

    private func fault(_ octets: [UInt8], isWhole: Bool = true, _ limits: ImageLimits = ImageLimits()) -> ImageFault.Reason? {
        do throws(ImageFault) {
            _ = try ImageInfo.reading(octets, isWhole: isWhole, limits: limits)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("Format and size are read as soon as the first bytes contain them, and not earlier", arguments: images.indices)
    func reads(number: Int) throws {
        let (octets, expected) = Self.images[number]
        #expect(try ImageInfo.reading(octets + [1, 2, 3], isWhole: false) == expected)
        var first: Int?
        for count in 0...octets.count {
            let info = try ImageInfo.reading(Array(octets.prefix(count)), isWhole: false)
            if info != nil && first == nil { first = count }
            #expect(info == nil || info == expected)
            #expect((first == nil) == (fault(Array(octets.prefix(count))) == .malformed))
        }
        #expect(first != nil)
    }

    @Test("A TIFF may have its size anywhere, in either byte order", arguments: [true, false])
    func readsTIFF(isLittle: Bool) throws {
        let limits = ImageLimits(side: 100_000)
        let octets = Self.tiff(isLittle)
        #expect(try ImageInfo.reading(octets, isWhole: true, limits: limits) == ImageInfo(kind: .tiff, width: 5, height: 70_000))
        #expect(fault(Array(octets.dropLast()), limits) == .malformed)
        var far = octets
        far[isLittle ? 6 : 5] = 0x7F
        #expect(fault(far + Array(repeating: 0, count: 2 << 20), isWhole: false) == .tooLarge)
    }

    private func fault(_ octets: [UInt8], _ limits: ImageLimits) -> ImageFault.Reason? { fault(octets, isWhole: true, limits) }

    @Test("An image above the size limits is rejected by its header; one at the limits is accepted")
    func holdsItsLimits() {
        #expect(fault(Self.bmp(30_000, 30_000), isWhole: false) == .tooLarge)
        #expect(fault(Self.bmp(10_000, 10_000)) == nil)
        #expect(fault(Self.bmp(10_001, 10_000)) == .tooLarge)
        #expect(fault(Self.bmp(32_767, 1)) == nil)
        #expect(fault(Self.bmp(32_768, 1)) == .tooLarge)
        #expect(fault(Self.avif(0xFFFF_FFFF, 0xFFFF_FFFF)) == .tooLarge)
    }

    @Test("Bytes that are not a valid image are rejected at once")
    func refusesOthers() {
        var crc = Self.png
        crc[30] ^= 1
        for octets in [
            crc, Self.gif(0, 1), Self.bmp(0, 1), Self.bmp(-1, 1), Self.ico([]), Self.avif(1, 1, brand: "heic"), Self.avif(0, 1),
            [0xFF, 0xD8, 0xFF, 0xDA, 0, 2],
            [0xFF, 0xD8, 0x00], [0xFF, 0xD8, 0xFF, 0xE0, 0, 1], Self.ascii("RIFF....WAVEfmt "), Self.ascii("<!DOCTYPE html>"),
            Self.ascii("<svg/>"),
            Self.ascii("#include <x>\n"), Self.ascii("#define a_width x\n"), Self.ascii("%PDF-1.4 and so on"),
            Array(repeating: 0, count: 64),
        ] {
            #expect(fault(octets, isWhole: false) == .malformed, "\(octets.prefix(20))")
        }
    }

    @Test("An image declared as another type is reported, and rejected if the serializer requires that")
    func comparesTypes() throws {
        func read(_ type: String, _ isStrict: Bool) -> SerializedResponse<ImageInfo?> {
            ImageInfoSerializer(requiresDeclaredKind: isStrict).serialize(ReceivedHead(status: 200, contentType: type), Self.png)
        }
        #expect(try read("image/jpeg", false).get()?.kind == .png)
        #expect(try read("IMAGE/PNG", true).get()?.kind == .png)
        #expect(
            read("image/jpeg", true).faults == [
                ResponseFault(.malformedImage, "the format is png, but Content-Type is image/jpeg")
            ])
        #expect(read("text/html", false).faults.first?.code == .unacceptableContentType)
        #expect(try ImageInfoSerializer().serialize(ReceivedHead(status: 204), []).get() == nil)
        #expect(ImageKind.allCases.flatMap(\.mediaTypes).contains("image/x-win-bitmap"))
    }
}
