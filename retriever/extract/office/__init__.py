"""Reading of documents that are ZIP files of XML: Word, PowerPoint, Excel, OpenDocument and EPUB."""
