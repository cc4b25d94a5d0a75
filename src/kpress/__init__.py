"""kpress"""
